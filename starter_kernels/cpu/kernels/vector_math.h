// What epilogues do most, on a whole vector of BLOCK floats. A compiler that may not assume finite numbers turns a select into a
// comparison on port 5 and a blend; a clip between constants becomes seven instructions. max and min are one each, and do the same:
// the second operand where either is NaN.

typedef float lanes __attribute__((vector_size(4 * BLOCK), aligned(4), may_alias));
// The same in registers, for the functions of cpu/scalar_math.h.
typedef float wide __attribute__((vector_size(4 * BLOCK)));
typedef uint32_t wide_bits __attribute__((vector_size(4 * BLOCK)));

// clang sees a maximum in a select; so does GCC in 256 bits, but not between constants, where it makes a comparison and a blend.
template <class V>
static inline __attribute__((always_inline)) V larger(V a, V b) {
#if defined(__AVX512F__) && !defined(__clang__)
  if constexpr (sizeof(V) == 64 && sizeof(V{}[0]) == 4) return __builtin_ia32_maxps512_mask(a, b, V{}, -1, 4);  // 4: the rounding mode as it is
#endif
#if defined(__AVX__) && !defined(__clang__)
  if constexpr (sizeof(V) == 32 && sizeof(V{}[0]) == 4) return __builtin_ia32_maxps256(a, b);
#endif
  return a > b ? a : b;
}
template <class V>
static inline __attribute__((always_inline)) V smaller(V a, V b) {
#if defined(__AVX512F__) && !defined(__clang__)
  if constexpr (sizeof(V) == 64 && sizeof(V{}[0]) == 4) return __builtin_ia32_minps512_mask(a, b, V{}, -1, 4);
#endif
#if defined(__AVX__) && !defined(__clang__)
  if constexpr (sizeof(V) == 32 && sizeof(V{}[0]) == 4) return __builtin_ia32_minps256(a, b);
#endif
  return a < b ? a : b;
}
