// Index of the largest or smallest element along an axis, of equal ones the first or the last. A NaN is larger and smaller than all and equal to another.
template <int64_t COUNT>
static void best_of_lines(const IN0_t* x, OUT0_t* y, int64_t first, int64_t count) {
  const int64_t n = COUNT > 0 ? COUNT : count;
  IN0_t champions[GROUP];
  int32_t best[GROUP];  // as wide as floats are; a tensor has no longer axis
  static_assert(LENGTH <= INT32_MAX);
  for (int64_t j = 0; j < n; ++j) champions[j] = x[first + j * LINE_STEP], best[j] = 0;
  for (int64_t l = 1; l < LENGTH; ++l) {
#pragma GCC unroll 8
    for (int64_t j = 0; j < n; ++j) {
      const IN0_t candidate = x[first + j * LINE_STEP + l * INNER], champion = champions[j];
      const bool better = LARGEST ? is_above(candidate, champion) : is_below(candidate, champion);
      const bool equal = candidate == champion || (is_nan(candidate) && is_nan(champion));
      const bool takes = better | (LAST && equal);
      champions[j] = takes ? candidate : champion;
      best[j] = takes ? (int32_t)l : best[j];
    }
  }
  for (int64_t j = 0; j < n; ++j) y[j] = (OUT0_t)best[j];
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void*) {
  const auto* x = (const IN0_t*)in[0];
  auto* y = (OUT0_t*)out[0];
  for_groups([&](int64_t first, int64_t line, int64_t count) {
    count == GROUP ? best_of_lines<GROUP>(x, y + line, first, count) : best_of_lines<0>(x, y + line, first, count);
  });
}
