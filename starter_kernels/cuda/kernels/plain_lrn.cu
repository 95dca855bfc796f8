// Local response normalisation over WINDOW neighbouring channels: y = x / (bias + alpha / WINDOW * sum of squares)^beta.
extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands operands) {
  wait_for_producers();
  const float* x = (const float*)operands.in[0];
  float* y = (float*)operands.out[0];
  for_each(OUTER * LENGTH * INNER, [&](int64_t at) {
    const int64_t i = at % INNER, c = at / INNER % LENGTH, o = at / INNER / LENGTH, below = c - (WINDOW - 1) / 2, above = c + WINDOW / 2;
    float squares = 0;
    for (int64_t n = below < 0 ? 0 : below; n <= above && n < LENGTH; ++n) {
      const float v = x[(o * LENGTH + n) * INNER + i];
      squares += v * v;
    }
    y[at] = x[at] / scalar::pow(SETTINGS(2) + SETTINGS(0) / WINDOW * squares, SETTINGS(1));
  });
}

TABLE Launch amdahl_launches[] = {{0, blocks_for(OUTER * LENGTH * INNER), 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;
