// Which tile of C a block has, and where the sums of a part of K wait: what the forms that multiply in tiles have in common.

static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

struct Place {
  int64_t m, n;
};

// Tiles of TILE_M x TILE_N by the number of the block. TOGETHER rows of tiles run together, so that they share what they read of B in L2.
template <int TILE_M, int TILE_N>
struct TileOrder {
  enum : int64_t { TILES_M = M > 0 ? (M + TILE_M - 1) / TILE_M : 1, TILES_N = N > 0 ? (N + TILE_N - 1) / TILE_N : 1, TOGETHER = 8 };

  static inline Place first_of(int64_t block) {
    const int64_t group = block / (TOGETHER * TILES_N) * TOGETHER, rows = least(TOGETHER, TILES_M - group), place = block % (TOGETHER * TILES_N);
    return {(group + place % rows) * TILE_M, place / rows * TILE_N};
  }
};

// Row m of the sums of this block's part.
static inline sum_t* row_of_part(const Operands& o, int64_t batch, int64_t m) { return (sum_t*)o.workspace + ((blockIdx.y * BATCH + batch) * M + m) * N; }
// Steps of K of a part: whole ones of STEP.
template <int64_t STEP>
static inline constexpr int64_t steps_of_part() {
  return ((K + STEP - 1) / STEP + SPLIT_K - 1) / SPLIT_K * STEP;
}
