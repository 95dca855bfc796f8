// Rotary embedding: pairs of elements of a head are turned by an angle that depends on the position,
//   a' = a cos - b sin,   b' = b cos + a sin,
// where the pairs are (i, i + half), or neighbours when INTERLEAVED. What lies beyond ROTATED passes through.

extern "C" void amdahl_run(const void* const* in, void* const* out, void*) {
  const value_t* x = (const value_t*)in[0];
  value_t* y = (value_t*)out[0];
#pragma omp parallel for schedule(static) num_threads(THREADS) if (TASKS > 1)
  for (int64_t task = 0; task < TASKS; ++task) {
    const int64_t last = (task + 1) * ROWS_PER_TASK < ROWS ? (task + 1) * ROWS_PER_TASK : ROWS;
    for (int64_t row = task * ROWS_PER_TASK; row < last; ++row) {
      // Heads innermost: the angles of a position serve all of them while they are hot.
      const int64_t b = row / (POSITIONS * HEADS), p = row / HEADS % POSITIONS, h = row % HEADS;
      const value_t* __restrict from = x + x_place(b, h, p);
      value_t* __restrict to = y + y_place(b, h, p);
      const int64_t position = position_of(in, b, p);
      const cache_t* __restrict cos = (const cache_t*)in[1] + cos_place(b, h, position);
      const cache_t* __restrict sin = (const cache_t*)in[2] + sin_place(b, h, position);
      constexpr int64_t FIRST = INTERLEAVED ? 2 : 1, SECOND = INTERLEAVED ? 1 : HALF;
#pragma omp simd
      for (int64_t i = 0; i < HALF; ++i) {
        const float u = load(from[(FIRST * i) * X_STEP]), v = load(from[(FIRST * i + SECOND) * X_STEP]);
        const float c = load_cache(cos[i * COS_STEP]), s = load_cache(sin[i * SIN_STEP]);
        const float c2 = FULL_CACHE ? load_cache(cos[(i + HALF) * COS_STEP]) : c;
        const float s2 = FULL_CACHE ? load_cache(sin[(i + HALF) * SIN_STEP]) : s;
        to[(FIRST * i) * Y_STEP] = store(u * c - v * s);
        to[(FIRST * i + SECOND) * Y_STEP] = store(v * c2 + u * s2);
      }
      for (int64_t i = ROTATED; i < HEAD_SIZE; ++i) to[i * Y_STEP] = from[i * X_STEP];
    }
  }
}
