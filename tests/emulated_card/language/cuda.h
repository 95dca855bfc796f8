// CUDA's words for a text that g++ compiles: stands before the text, after calls.h.
#include <math.h>

extern "C" const Dimensions threadIdx, blockIdx, blockDim, gridDim;

#define __device__
#define __global__
#define __constant__
#define __forceinline__ __inline__
#define __launch_bounds__(...)
// One block runs at a time.
#define __shared__ static

static inline void __syncthreads() { emulated_barrier(0); }
static inline int __syncthreads_or(int said) { return emulated_barrier(said != 0); }

// What another lane has shown in the same exchange.
template <class T>
static inline T of_lane_in(unsigned mask, const void* shown, unsigned lane) {
  if (lane > 31 || !(mask >> lane & 1)) emulated_fault("reads of a lane that takes no part in the shuffle");
  T value;
  __builtin_memcpy(&value, (const char*)shown + 64 * lane, sizeof(T));
  return value;
}
template <class T>
static inline T __shfl_xor_sync(unsigned mask, T value, int distance) {
  return of_lane_in<T>(mask, emulated_exchange(mask, &value, sizeof(T)), emulated_lane() ^ unsigned(distance));
}

// The old number is read and the new one written as one step: other atomics may meet it.
template <class T>
__attribute__((noinline, no_sanitize("thread"))) static T atomicMax(T* address, T value) {
  emulated_atomic(address, sizeof(T));
  const T old = *address;
  if (value > old) *address = value;
  return old;
}

template <class To, class From>
static inline To same_bits(From from) {
  To to;
  __builtin_memcpy(&to, &from, sizeof(To));
  return to;
}
static inline float __int_as_float(int bits) { return same_bits<float>(bits); }
static inline float __uint_as_float(unsigned bits) { return same_bits<float>(bits); }
static inline unsigned __float_as_uint(float x) { return same_bits<unsigned>(x); }
static inline double __longlong_as_double(long long bits) { return same_bits<double>(bits); }
