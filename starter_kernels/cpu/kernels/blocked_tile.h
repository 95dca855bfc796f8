// The register tile of products on channel blocks, shared by conv_blocked and inverted_residual: PIXELS pixels by V blocks of output channels, whose
// BLOCK channels are the lanes of a vector. Wants BLOCK and UNROLL.
//
// A last block whose upper half is empty (HALF) is summed in vectors of half the width: two of those take the time of one where 512 bits are two
// halves (Zen 4: 24 channels are 1.5 blocks, not 2), and one takes no longer than a whole one elsewhere.

typedef float vec __attribute__((vector_size(4 * BLOCK), aligned(4), may_alias));
typedef float half __attribute__((vector_size(2 * BLOCK), aligned(4), may_alias));

// Adds CI input channels, X_C apart, to pixels X_P apart; w moves on past their weights, [channel][V][BLOCK]. HALF: the last of V blocks is summed in `last`.
template <int V, bool HALF, int PIXELS, int64_t CI, int64_t X_C, int64_t X_P>
static inline __attribute__((always_inline)) void add_channels(const float* x, const float*& w, vec (&acc)[V][PIXELS], half (&last)[PIXELS]) {
  constexpr int FULL = HALF ? V - 1 : V;
#pragma GCC unroll UNROLL
  for (int64_t c = 0; c < CI; ++c) {
    vec row[V];
#pragma GCC unroll 8
    for (int v = 0; v < FULL; ++v) row[v] = *(const vec*)(w + v * BLOCK);
    const half last_row = *(const half*)(w + (V - 1) * BLOCK);
    w += V * BLOCK;
#pragma GCC unroll 32
    for (int p = 0; p < PIXELS; ++p) {
#pragma GCC unroll 8
      for (int v = 0; v < FULL; ++v) acc[v][p] += row[v] * x[c * X_C + p * X_P];
      if constexpr (HALF) last[p] += last_row * x[c * X_C + p * X_P];
    }
  }
}
