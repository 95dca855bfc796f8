// The inside of a product: BK steps of both operands in shared memory, TM x TN sums of a thread in registers.
//
// Threads of a block are BLOCK_M x BLOCK_N. A thread's rows are adjacent: they come in one wide load, and threads of the same rows share it. Of its columns
// ADJACENT are, where it loads and stores that many together; beyond those they lie apart, so that a warp's loads and stores are adjacent.

enum : int {
  TILE_M = TM * BLOCK_M,
  TILE_N = TN * BLOCK_N,
  THREADS = BLOCK_M * BLOCK_N,
  WIDE = 16 / sizeof(sum_t),  // sums that one load takes
  UNROLL_STEPS = TM * TN * sizeof(sum_t) >= 256 ? 2 : 8  // more would not leave the sums their registers
};

// Rows are longer by one load: what is written along k does not all lie in one bank.
struct Tiles {
  alignas(16) sum_t a[BK][TILE_M + WIDE];
  alignas(16) sum_t b[BK][TILE_N + (ADJACENT > 1 ? WIDE : 1)];
};

static inline int thread_row() { return threadIdx.x / BLOCK_N; }
static inline int thread_column() { return threadIdx.x % BLOCK_N; }
// Where the thread's column j lies in the tile.
static inline constexpr int tile_column(int thread_column, int j) {
  return j / int(ADJACENT) * int(ADJACENT * BLOCK_N) + thread_column * int(ADJACENT) + j % int(ADJACENT);
}

// The steps that are in shared memory, between two barriers.
static inline void add_products(const Tiles& tiles, sum_t (&sum)[TM][TN]) {
  const int row = thread_row() * int(TM), column = thread_column();
#pragma unroll UNROLL_STEPS
  for (int k = 0; k < BK; ++k) {
    sum_t a[TM], b[TN];
#pragma unroll
    for (int i = 0; i < TM; ++i) a[i] = tiles.a[k][row + i];
#pragma unroll
    for (int j = 0; j < TN; ++j) b[j] = tiles.b[k][tile_column(column, j)];
#pragma unroll
    for (int i = 0; i < TM; ++i)
#pragma unroll
      for (int j = 0; j < TN; ++j) sum[i][j] += a[i] * b[j];
  }
}
