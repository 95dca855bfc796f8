// What both forms of pooling do with an element and with a window's result.

static inline sum_t join(sum_t a, sum_t b) {
  if constexpr (IS_MAX) return a > b || a != a ? a : b;  // NaN stays
  else return a + b;
}

static inline out_t finish_window(sum_t sum, int64_t count) {
  if constexpr (IS_MAX) return store_out(sum);
  else return store_out(sum / sum_t(count));
}
