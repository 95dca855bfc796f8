// One at the first largest element along an axis, zero elsewhere. NaN is the largest.
extern "C" void amdahl_run(const void* const* in, void* const* out, void*) {
  const IN0_t* x = (const IN0_t*)in[0];
  OUT0_t* y = (OUT0_t*)out[0];
  for (int64_t o = 0; o < OUTER; ++o)
    for (int64_t i = 0; i < INNER; ++i) {
      int64_t best = 0;
      for (int64_t l = 1; l < LENGTH; ++l)
        if (is_above(x[(o * LENGTH + l) * INNER + i], x[(o * LENGTH + best) * INNER + i])) best = l;
      for (int64_t l = 0; l < LENGTH; ++l) y[(o * LENGTH + l) * INNER + i] = (OUT0_t)(l == best);
    }
}
