// Y = act(X W1 [, X W_up]) W2 in two launches: the hidden layer waits in the workspace, a large part of it in L2.
//
// A block has TILE_M rows x TILE_N columns of a product, a thread TM x TN sums of it (product_tile.h). activation() and finish() are generated above.

enum : int64_t {
  TILES_M = M > 0 ? (M + TILE_M - 1) / TILE_M : 1,
  TILES_H = H > 0 ? (H + TILE_N - 1) / TILE_N : 1,
  TILES_N = N > 0 ? (N + TILE_N - 1) / TILE_N : 1
};

// sum += a tile of the M x COLUMNS product over DEPTH steps, of matrices that lie at these strides.
template <int64_t A_ROW, int64_t A_COLUMN, int64_t B_ROW, int64_t B_COLUMN, int64_t DEPTH, int64_t COLUMNS>
static inline void multiply(Tiles& tiles, const float* a, const float* b, int64_t first_m, int64_t first_n, float (&sum)[TM][TN]) {
  for (int64_t first_k = 0; first_k < DEPTH; first_k += BK) {
    // Neighbouring threads read along whichever dimension lies in memory order.
    for_own<TILE_M * BK, THREADS>([&](int i) {
      const int m = A_COLUMN == 1 ? i / int(BK) : i % TILE_M, k = A_COLUMN == 1 ? i % int(BK) : i / TILE_M;
      tiles.a[k][m] = first_m + m < M && first_k + k < DEPTH ? a[(first_m + m) * A_ROW + (first_k + k) * A_COLUMN] : 0.0f;
    });
    for_own<TILE_N * BK, THREADS>([&](int i) {
      const int n = B_COLUMN == 1 ? i % TILE_N : i / int(BK), k = B_COLUMN == 1 ? i / TILE_N : i % int(BK);
      tiles.b[k][n] = first_n + n < COLUMNS && first_k + k < DEPTH ? b[(first_k + k) * B_ROW + (first_n + n) * B_COLUMN] : 0.0f;
    });
    __syncthreads();
    add_products(tiles, sum);
    __syncthreads();
  }
}

// Calls f(sum's row, its column, m, n) for the elements of this thread that exist.
template <int64_t COLUMNS, class F>
static inline void for_each_sum(int64_t first_m, int64_t first_n, F f) {
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j) {
      const int64_t m = first_m + thread_row() * int(TM) + i, n = first_n + tile_column(thread_column(), j);
      if (m < M && n < COLUMNS) f(i, j, m, n);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands o) {
  wait_for_producers();
  __shared__ Tiles tiles;
  const float* x = (const float*)o.in[0] + X_OFFSET;
  float* hidden = (float*)o.workspace;
  const int64_t first_m = blockIdx.x / TILES_H * TILE_M, first_h = blockIdx.x % TILES_H * TILE_N;
  float product[TM][TN] = {}, up[TM][TN] = {};
  multiply<X_ROW, X_COLUMN, W1_ROW, W1_COLUMN, K, H>(tiles, x, (const float*)o.in[1] + W1_OFFSET, first_m, first_h, product);
  if constexpr (GATED)
    multiply<X_ROW, X_COLUMN, W_UP_ROW, W_UP_COLUMN, K, H>(tiles, x, (const float*)o.in[3] + W_UP_OFFSET, first_m, first_h, up);
  for_each_sum<H>(first_m, first_h, [&](int i, int j, int64_t m, int64_t h) { hidden[m * H + h] = activation(product[i][j], up[i][j], o.in, m, h); });
}

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_1(const __grid_constant__ Operands o) {
  wait_for_producers();
  __shared__ Tiles tiles;
  float* y = (float*)o.out[0] + Y_OFFSET;
  const int64_t first_m = blockIdx.x / TILES_N * TILE_M, first_n = blockIdx.x % TILES_N * TILE_N;
  float sum[TM][TN] = {};
  multiply<H, 1, W2_ROW, W2_COLUMN, H, N>(tiles, (const float*)o.workspace, (const float*)o.in[2] + W2_OFFSET, first_m, first_n, sum);
  for_each_sum<N>(first_m, first_n, [&](int i, int j, int64_t m, int64_t n) { y[m * Y_ROW + n * Y_COLUMN] = epilogue(sum[i][j], o.in, m, n); });
}

TABLE Launch amdahl_launches[] = {{0, TILES_M * TILES_H, 1, 1, THREADS, 1, 1, 0}, {1, TILES_M * TILES_N, 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = M * H * sizeof(float);
