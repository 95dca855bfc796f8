
// f16 is computed in float, everything else in its own type.
template <typename T>
struct arithmetic { typedef T type; };
template <>
struct arithmetic<_Float16> { typedef float type; };

// A negative index counts from the end; what is still outside is clamped, so that a bad index cannot leave the tensor.
static inline int64_t bounded(int64_t index, int64_t size) {
  if (index < 0) index += size;
  return index < 0 ? 0 : index >= size ? size - 1 : index;
}

template <typename T>
static inline bool is_nan(T x) { return x != x; }

template <typename T>
static inline bool is_above(T a, T b) { return a > b || (is_nan(a) && !is_nan(b)); }
template <typename T>
static inline bool is_below(T a, T b) { return a < b || (is_nan(a) && !is_nan(b)); }

// What no element is below. The argument only tells the type.
template <typename T>
static inline T lowest(T*) { return (T)(-__builtin_inff()); }
static inline int8_t lowest(int8_t*) { return INT8_MIN; }
static inline uint8_t lowest(uint8_t*) { return 0; }

// By ONNX: none, add, mul, max, min.
template <typename T>
static inline T reduced(int64_t reduction, T old, T update) {
  typedef typename arithmetic<T>::type A;
  switch (reduction) {
    case 1: return (T)((A)old + (A)update);
    case 2: return (T)((A)old * (A)update);
    case 3: return is_nan(old) || is_nan(update) ? (T)(old + update) : old > update ? old : update;
    case 4: return is_nan(old) || is_nan(update) ? (T)(old + update) : old < update ? old : update;
  }
  return update;
}

extern "C" size_t amdahl_workspace_bytes(void) { return 0; }
extern "C" size_t amdahl_packed_bytes(int) { return 0; }
extern "C" void amdahl_pack(int, const void*, void*) {}

