// C[b] = alpha A[b] B[b], then the epilogue: any strides, any type of number.
//
// A block of BLOCK_M x BLOCK_N threads has a tile of C; a thread has TM x TN elements of it in registers, BLOCK_M and BLOCK_N apart, so that a warp's
// stores are adjacent. BK steps of K of both operands wait in shared memory, where they are converted once.

enum : long long { TILE_M = TM * BLOCK_M, TILE_N = TN * BLOCK_N, THREADS = BLOCK_M * BLOCK_N };

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands o) {
  __shared__ sum_t tile_a[BK][TILE_M + 1];  // one more, so that columns of A do not all lie in one bank
  __shared__ sum_t tile_b[BK][TILE_N + 1];
  const int thread = threadIdx.x, row = thread / BLOCK_N, column = thread % BLOCK_N;
  const int64_t first_m = blockIdx.y * TILE_M, first_n = blockIdx.x * TILE_N;
  for (int64_t batch = blockIdx.z; batch < BATCH; batch += gridDim.z) {
    const a_t* a = (const a_t*)o.in[0] + begin_of_a(batch);
    const b_t* b = (const b_t*)o.in[1] + begin_of_b(batch);
    out_t* c = (out_t*)o.out[0] + begin_of_c(batch);
    sum_t sum[TM][TN] = {};
    for (int64_t first_k = 0; first_k < K; first_k += BK) {
      // Neighbouring threads read along whichever dimension lies in memory order.
      for (int i = thread; i < TILE_M * BK; i += THREADS) {
        const int m = A_COLUMN == 1 ? i / BK : i % TILE_M, k = A_COLUMN == 1 ? i % BK : i / TILE_M;
        const bool inside = first_m + m < M && first_k + k < K;
        tile_a[k][m] = inside ? load_a(a[(first_m + m) * A_ROW + (first_k + k) * A_COLUMN]) : sum_t(0);
      }
      for (int i = thread; i < TILE_N * BK; i += THREADS) {
        const int n = B_COLUMN == 1 ? i % TILE_N : i / BK, k = B_COLUMN == 1 ? i / TILE_N : i % BK;
        const bool inside = first_n + n < N && first_k + k < K;
        tile_b[k][n] = inside ? load_b(b[(first_k + k) * B_ROW + (first_n + n) * B_COLUMN]) : sum_t(0);
      }
      __syncthreads();
#pragma unroll
      for (int k = 0; k < BK; ++k) {
        sum_t in_a[TM], in_b[TN];
#pragma unroll
        for (int i = 0; i < TM; ++i) in_a[i] = tile_a[k][row + i * BLOCK_M];
#pragma unroll
        for (int j = 0; j < TN; ++j) in_b[j] = tile_b[k][column + j * BLOCK_N];
#pragma unroll
        for (int i = 0; i < TM; ++i)
#pragma unroll
          for (int j = 0; j < TN; ++j) sum[i][j] += in_a[i] * in_b[j];
      }
      __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < TM; ++i)
#pragma unroll
      for (int j = 0; j < TN; ++j) {
        const int64_t m = first_m + row + i * BLOCK_M, n = first_n + column + j * BLOCK_N;
        if (m < M && n < N) c[m * C_ROW + n * C_COLUMN] = finish(sum[i][j] ALPHA, o.in, batch, m, n);
      }
  }
}

TABLE Launch amdahl_launches[] = {
    {0, (N + TILE_N - 1) / TILE_N, (M + TILE_M - 1) / TILE_M, BATCH < 65535 ? BATCH : 65535, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;
