// Row-major [N, C, pixels] to channel blocks [N][C/16][pixels][16] (padding channels become zero), or back.

constexpr int64_t BLOCKS = (C + BLOCK - 1) / BLOCK;

extern "C" size_t amdahl_workspace_bytes(void) { return 0; }
extern "C" size_t amdahl_packed_bytes(int) { return 0; }
extern "C" void amdahl_pack(int, const void*, void*) {}

extern "C" void amdahl_run(const void* const* in, void* const* out, void*) {
  // PIECE pixels of a block at a time: 16 lines are read and 16 written, all of which stay in L1.
  constexpr int64_t PIECE = 64, PIECES = (P + PIECE - 1) / PIECE;
#pragma omp parallel for num_threads(THREADS) schedule(static)
  for (int64_t task = 0; task < N * BLOCKS * PIECES; ++task) {
    const int64_t image = task / (BLOCKS * PIECES), b = task / PIECES % BLOCKS, p0 = task % PIECES * PIECE;
    const int64_t p1 = p0 + PIECE < P ? p0 + PIECE : P, real = C - b * BLOCK < BLOCK ? C - b * BLOCK : BLOCK;
    const int64_t plain = (image * C + b * BLOCK) * P, blocked = (image * BLOCKS + b) * P * BLOCK;
    const float* from = static_cast<const float*>(in[0]) + (TO_BLOCKS ? plain : blocked);
    float* to = static_cast<float*>(out[0]) + (TO_BLOCKS ? blocked : plain);
    if constexpr (TO_BLOCKS) {
      if (real == BLOCK) {
        for (int64_t p = p0; p < p1; ++p)
          for (int64_t c = 0; c < BLOCK; ++c) to[p * BLOCK + c] = from[c * P + p];
      } else {
        for (int64_t p = p0; p < p1; ++p)
          for (int64_t c = 0; c < BLOCK; ++c) to[p * BLOCK + c] = c < real ? from[c * P + p] : 0.0f;
      }
    } else {
      for (int64_t c = 0; c < real; ++c)
        for (int64_t p = p0; p < p1; ++p) to[c * P + p] = from[p * BLOCK + c];
    }
  }
}
