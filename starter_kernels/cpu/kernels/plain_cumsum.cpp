// Running sum along an axis.
extern "C" void amdahl_run(const void* const* in, void* const* out, void*) {
  const IN0_t* x = (const IN0_t*)in[0];
  OUT0_t* y = (OUT0_t*)out[0];
  for (int64_t o = 0; o < OUTER; ++o)
    for (int64_t i = 0; i < INNER; ++i) {
      arithmetic<OUT0_t>::type sum = 0;
      for (int64_t s = 0; s < LENGTH; ++s) {
        const int64_t at = (o * LENGTH + (REVERSE ? LENGTH - 1 - s : s)) * INNER + i;
        if (EXCLUSIVE) y[at] = (OUT0_t)sum;
        sum += x[at];
        if (!EXCLUSIVE) y[at] = (OUT0_t)sum;
      }
    }
}
