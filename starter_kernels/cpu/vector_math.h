// What epilogues do most, on a whole vector of BLOCK floats. A compiler that may not assume finite numbers turns a select into a
// comparison on port 5 and a blend; a clip between constants becomes seven instructions. max and min are one each, and do the same:
// the second operand where either is NaN.

typedef float lanes __attribute__((vector_size(4 * BLOCK), aligned(4), may_alias));

#if defined(__AVX512F__) && !defined(__clang__)  // clang sees a maximum in a select
static_assert(BLOCK == 16);
static inline __attribute__((always_inline)) lanes larger(lanes a, lanes b) {
  return __builtin_ia32_maxps512_mask(a, b, lanes{}, -1, 4);  // 4: the rounding mode as it is
}
static inline __attribute__((always_inline)) lanes smaller(lanes a, lanes b) {
  return __builtin_ia32_minps512_mask(a, b, lanes{}, -1, 4);
}
#else
static inline __attribute__((always_inline)) lanes larger(lanes a, lanes b) { return a > b ? a : b; }
static inline __attribute__((always_inline)) lanes smaller(lanes a, lanes b) { return a < b ? a : b; }
#endif
