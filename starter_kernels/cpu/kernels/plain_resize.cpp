// Separable interpolation from tables: output position p of dimension d is the sum of WEIGHT times input at INDEX over TAPS[d]
// taps from STARTS[d] + p * TAPS[d]. Nearest has one tap of weight one and copies.
typedef arithmetic<IN0_t>::type value_t;

static value_t sample(const IN0_t* x, const int64_t* position, int64_t d, int64_t base) {
  if (d == IN0_RANK) return (value_t)x[base];
  const int64_t first = STARTS[d] + position[d] * TAPS[d];
  if (TAPS[d] == 1) return sample(x, position, d + 1, base * IN0_SHAPE[d] + INDEX[first]);
  value_t sum = 0;
  for (int64_t t = 0; t < TAPS[d]; ++t)
    if (WEIGHT[first + t] != 0) sum += (value_t)WEIGHT[first + t] * sample(x, position, d + 1, base * IN0_SHAPE[d] + INDEX[first + t]);
  return sum;
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void*) {
  const IN0_t* x = (const IN0_t*)in[0];
  OUT0_t* y = (OUT0_t*)out[0];
  for (int64_t flat = 0; flat < OUT0_SIZE; ++flat) {
    int64_t position[OUT0_RANK + 1], rest = flat;
    bool outside = false;
    for (int64_t d = OUT0_RANK - 1; d >= 0; --d) {
      position[d] = rest % OUT0_SHAPE[d];
      rest /= OUT0_SHAPE[d];
      outside = outside || OUTSIDE[STARTS[d] + position[d] * TAPS[d]];
    }
    y[flat] = outside ? (OUT0_t)EXTRAPOLATION[0] : (OUT0_t)sample(x, position, 0, 0);
  }
}
