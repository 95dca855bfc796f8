// CUDA's words for a text that g++ compiles: stands before the text, after calls.h.

// The host's functions of <math.h>: to read that file is a quarter of the time that a text takes to compile.
#define OF_ONE(name)    \
  float name##f(float); \
  double name(double);
#define OF_TWO(name)           \
  float name##f(float, float); \
  double name(double, double);
// clang-format off
extern "C" {
OF_ONE(fabs) OF_ONE(sqrt) OF_ONE(floor) OF_ONE(ceil) OF_ONE(rint) OF_ONE(exp) OF_ONE(exp2) OF_ONE(expm1) OF_ONE(log) OF_ONE(log1p) OF_ONE(erf) OF_ONE(erfc)
OF_ONE(sin) OF_ONE(cos) OF_ONE(tan) OF_ONE(asin) OF_ONE(acos) OF_ONE(atan) OF_ONE(sinh) OF_ONE(cosh) OF_ONE(tanh) OF_ONE(asinh) OF_ONE(acosh) OF_ONE(atanh)
OF_TWO(copysign) OF_TWO(fmod) OF_TWO(pow)
}
// clang-format on
#undef OF_ONE
#undef OF_TWO

extern "C" const Dimensions threadIdx, blockIdx, blockDim, gridDim;

#define __device__
#define __global__
#define __constant__
#define __forceinline__ __inline__
#define __launch_bounds__(...)
// One block runs at a time.
#define __shared__ static

static inline void __syncthreads() { emulated_barrier(0); }
static inline void __syncwarp() { emulated_warp_barrier(); }
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
static inline float __fdividef(float x, float y) { return x / y; }  // a card's is within 2 ulp
static inline unsigned __float_as_uint(float x) { return same_bits<unsigned>(x); }
static inline double __longlong_as_double(long long bits) { return same_bits<double>(bits); }
