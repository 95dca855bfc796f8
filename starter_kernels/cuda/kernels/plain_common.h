// f16 is computed in float, everything else in its own type.
template <class T> struct arithmetic { typedef T type; };
template <> struct arithmetic<half_t> { typedef float type; };

template <class T> static inline typename arithmetic<T>::type number(T x) { return (typename arithmetic<T>::type)x; }
template <class T> static inline T stored(typename arithmetic<T>::type x) { return (T)x; }

// run(n) for every n < count, a thread each; blocks_for(count) is the grid for it.
template <class Run> static inline void for_each(int64_t count, Run run) {
  for (int64_t n = blockIdx.x * THREADS + threadIdx.x; n < count; n += gridDim.x * THREADS) run(n);
}
static inline constexpr uint32_t blocks_for(int64_t count) {
  return count <= 0 ? 1 : (count - 1) / THREADS < 0x7fffffff ? (count - 1) / THREADS + 1 : 0x7fffffff;
}

// A negative index counts from the end; what is still outside is clamped, so that a bad index cannot leave the tensor.
static inline int64_t bounded(int64_t index, int64_t size) {
  if (index < 0) index += size;
  return index < 0 ? 0 : index >= size ? size - 1 : index;
}

template <class T> static inline bool is_nan(T x) { return x != x; }
template <class T> static inline bool is_above(T a, T b) { return a > b || (is_nan(a) && !is_nan(b)); }
template <class T> static inline bool is_below(T a, T b) { return a < b || (is_nan(a) && !is_nan(b)); }
