// Index of the largest or smallest element along an axis, of equal ones the first or the last. A NaN is larger and smaller than all and equal to another.
extern "C" void amdahl_run(const void* const* in, void* const* out, void*) {
  const IN0_t* x = (const IN0_t*)in[0];
  OUT0_t* y = (OUT0_t*)out[0];
  for (int64_t o = 0; o < OUTER; ++o)
    for (int64_t i = 0; i < INNER; ++i) {
      int64_t best = 0;
      for (int64_t l = 1; l < LENGTH; ++l) {
        const IN0_t candidate = x[(o * LENGTH + l) * INNER + i], champion = x[(o * LENGTH + best) * INNER + i];
        const bool better = LARGEST ? is_above(candidate, champion) : is_below(candidate, champion);
        const bool equal = candidate == champion || (is_nan(candidate) && is_nan(champion));
        if (better || (LAST && equal)) best = l;
      }
      y[o * INNER + i] = (OUT0_t)best;
    }
}
