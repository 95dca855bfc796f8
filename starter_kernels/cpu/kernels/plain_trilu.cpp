// The upper or lower triangle of every matrix, zero elsewhere.
extern "C" void amdahl_run(const void* const* in, void* const* out, void*) {
  const IN0_t* x = (const IN0_t*)in[0];
  OUT0_t* y = (OUT0_t*)out[0];
  for (int64_t m = 0; m < IN0_SIZE; m += ROWS * COLUMNS)
    for (int64_t r = 0; r < ROWS; ++r)
      for (int64_t c = 0; c < COLUMNS; ++c) {
        const bool kept = UPPER ? c - r >= DIAGONAL : c - r <= DIAGONAL;
        y[m + r * COLUMNS + c] = kept ? x[m + r * COLUMNS + c] : (OUT0_t)0;
      }
}
