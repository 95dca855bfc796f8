// Local response normalisation over WINDOW neighbouring channels: y = x / (bias + alpha / WINDOW * sum of squares)^beta.
static inline float power(float base, float exponent) { return __builtin_powf(base, exponent); }

extern "C" void amdahl_run(const void* const* in, void* const* out, void*) {
  const float* x = (const float*)in[0];
  float* y = (float*)out[0];
  for (int64_t o = 0; o < OUTER; ++o)
    for (int64_t c = 0; c < LENGTH; ++c) {
      const int64_t below = c - (WINDOW - 1) / 2, above = c + WINDOW / 2;
      for (int64_t i = 0; i < INNER; ++i) {
        float squares = 0;
        for (int64_t n = below < 0 ? 0 : below; n <= above && n < LENGTH; ++n) {
          const float v = x[(o * LENGTH + n) * INNER + i];
          squares += v * v;
        }
        const int64_t at = (o * LENGTH + c) * INNER + i;
        y[at] = x[at] / power(SETTINGS[2] + SETTINGS[0] / WINDOW * squares, SETTINGS[1]);
      }
    }
}
