// C[b] = alpha A[b] B[b] on tensor cores, then the epilogue: half floats whose sums are floats; of both operands either dimension lies in memory order.
//
// A block has WARPS_M x WARPS_N warps, a warp WARP_M x WARP_N sums in registers. MMA_K steps of K of both operands are a stage in shared memory; STAGES - 1
// of them are on their way while one is multiplied. Tails are zeros in shared memory. SPLIT_K blocks share the steps of K of a tile where the output has
// too few tiles for the card; a second launch then adds their sums (matmul_parts.cu).

enum : int {
  TILE_M = WARPS_M * WARP_M,
  TILE_N = WARPS_N * WARP_N,
  THREADS = 32 * WARPS_M * WARPS_N,
  MT = WARP_M / 16,  // multiplications of a warp along M and N
  NT = WARP_N / 8,
  // A stage: lines of what is adjacent in memory, longer by 16 bytes, so that eight of them begin in different banks.
  A_LINES = A_COLUMN == 1 ? TILE_M : MMA_K,
  A_LENGTH = A_COLUMN == 1 ? MMA_K : TILE_M,
  B_LINES = B_COLUMN == 1 ? MMA_K : TILE_N,
  B_LENGTH = B_COLUMN == 1 ? TILE_N : MMA_K,
  A_STEP = A_LENGTH + 8,
  B_STEP = B_LENGTH + 8,
  AT_B = A_LINES * A_STEP,
  STAGE = AT_B + B_LINES * B_STEP,
  SHARED = STAGES * STAGE * sizeof(uint16_t)
};
enum : int64_t {
  A_STRIDE = A_COLUMN == 1 ? A_ROW : A_COLUMN,
  B_STRIDE = B_COLUMN == 1 ? B_ROW : B_COLUMN,
  PART = steps_of_part<MMA_K>()
};

typedef TileOrder<TILE_M, TILE_N> Order;

// LINES x LENGTH numbers to shared memory, zeros from `lines` and `length` on, VECTOR at a time.
template <int LINES, int LENGTH, int STEP, int VECTOR>
static inline void copy_tile(uint16_t* to, const uint16_t* from, int64_t stride, int64_t lines, int64_t length) {
  constexpr int ACROSS = LENGTH / VECTOR;
  for_own<LINES * ACROSS, THREADS, (VECTOR > 1 ? 8 : 1)>([&](int i) {
    const int line = i / ACROSS, column = i % ACROSS * VECTOR;
    const int real = line < lines && column < length ? int(least(VECTOR, length - column)) : 0;
    const uint16_t* source = real > 0 ? from + line * stride + column : from;
    if constexpr (VECTOR > 1) copy_async<VECTOR * 2>(to + line * STEP + column, source, real * 2);
    else to[line * STEP + column] = real > 0 ? *source : uint16_t(0);
  });
}

struct Block {
  const uint16_t *a, *b;  // of this batch and tile, at step 0
  int64_t first_m, first_n, end_k;
  bool aligned_a, aligned_b;
};

static inline void copy_stage(const Block& block, int64_t k, uint16_t* stage) {
  const int64_t left_m = M - block.first_m, left_n = N - block.first_n, left_k = block.end_k - k;
  const uint16_t *a = block.a + k * A_COLUMN, *b = block.b + k * B_ROW;
  const int64_t a_lines = A_COLUMN == 1 ? left_m : left_k, a_length = A_COLUMN == 1 ? left_k : left_m;
  const int64_t b_lines = B_COLUMN == 1 ? left_k : left_n, b_length = B_COLUMN == 1 ? left_n : left_k;
  if (block.aligned_a) copy_tile<A_LINES, A_LENGTH, A_STEP, A_VECTOR>(stage, a, A_STRIDE, a_lines, a_length);
  else copy_tile<A_LINES, A_LENGTH, A_STEP, 1>(stage, a, A_STRIDE, a_lines, a_length);
  if (block.aligned_b) copy_tile<B_LINES, B_LENGTH, B_STEP, B_VECTOR>(stage + AT_B, b, B_STRIDE, b_lines, b_length);
  else copy_tile<B_LINES, B_LENGTH, B_STEP, 1>(stage + AT_B, b, B_STRIDE, b_lines, b_length);
}

// One stage; `m` and `n`: where the warp's sums begin in the block's tile.
static inline void multiply_stage(const uint16_t* stage, int m, int n, float (&sum)[MT][NT][4]) {
  const int lane = threadIdx.x % 32, low = lane % 8, second = lane / 8 % 2 * 8, fourth = lane / 16 * 8;
#pragma unroll
  for (int k = 0; k < MMA_K; k += 16) {
    uint32_t a[MT][4], b[NT / 2][4];
#pragma unroll
    for (int i = 0; i < MT; ++i) {
      const int row = m + i * 16;
      if constexpr (A_COLUMN == 1) load_matrices<false>(a[i], stage + (row + low + second) * A_STEP + k + fourth);
      else load_matrices<true>(a[i], stage + (k + low + fourth) * A_STEP + row + second);
    }
#pragma unroll
    for (int j = 0; j < NT / 2; ++j) {
      const int column = n + j * 16;
      if constexpr (B_COLUMN == 1) load_matrices<true>(b[j], stage + AT_B + (k + low + second) * B_STEP + column + fourth);
      else load_matrices<false>(b[j], stage + AT_B + (column + low + fourth) * B_STEP + k + second);
    }
#pragma unroll
    for (int i = 0; i < MT; ++i)
#pragma unroll
      for (int j = 0; j < NT; ++j) multiply_add(sum[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
  }
}

struct alignas(2 * sizeof(out_t)) Two {
  out_t at[2];
};

// Two adjacent sums of row m from column n on, of which the second may not exist.
static inline void store_two(const Operands& o, int64_t batch, int64_t m, int64_t n, out_t* row, float first, float second) {
  if (n + 1 >= N) {
    row[n * C_COLUMN] = finish(first ALPHA, o.in, batch, m, n);
  } else {
    const Two two = {finish(first ALPHA, o.in, batch, m, n), finish(second ALPHA, o.in, batch, m, n + 1)};
    if (C_COLUMN == 1 && uint64_t(row) % sizeof(Two) == 0) *(Two*)(row + n) = two;
    else row[n * C_COLUMN] = two.at[0], row[(n + 1) * C_COLUMN] = two.at[1];
  }
}

// The warp's sums of row m from column n on: the `half`-th of a lane's rows in a multiplication.
static inline void store_row(const Operands& o, int64_t batch, int64_t m, int64_t n, const float (&sum)[NT][4], int half) {
  out_t* row = (out_t*)o.out[0] + begin_of_c(batch) + m * C_ROW;
  float* part = row_of_part(o, batch, m);
#pragma unroll
  for (int j = 0; j < NT; ++j, n += 8) {
    if (n >= N) continue;
    if constexpr (SPLIT_K == 1) {
      store_two(o, batch, m, n, row, sum[j][half * 2], sum[j][half * 2 + 1]);
    } else {
      part[n] = sum[j][half * 2];
      if (n + 1 < N) part[n + 1] = sum[j][half * 2 + 1];
    }
  }
}

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands o) {
  wait_for_producers();
  alignas(16) extern __shared__ uint16_t shared[];
  const Place first = Order::first_of(blockIdx.x);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warp_m = warp / int(WARPS_N) * int(WARP_M), warp_n = warp % int(WARPS_N) * int(WARP_N);
  const int64_t first_k = blockIdx.y * PART;
  Block block;
  block.first_m = first.m, block.first_n = first.n, block.end_k = least(first_k + PART, K);
  const int steps = block.end_k > first_k ? int((block.end_k - first_k + MMA_K - 1) / MMA_K) : 0;
  for (int64_t batch = blockIdx.z; batch < BATCH; batch += gridDim.z) {
    block.a = (const uint16_t*)o.in[0] + begin_of_a(batch) + block.first_m * A_ROW;
    block.b = (const uint16_t*)o.in[1] + begin_of_b(batch) + block.first_n * B_COLUMN;
    block.aligned_a = uint64_t(block.a) % (A_VECTOR * 2) == 0, block.aligned_b = uint64_t(block.b) % (B_VECTOR * 2) == 0;

    float sum[MT][NT][4] = {};
#pragma unroll 1
    for (int s = 0; s < STAGES - 1; ++s) {
      if (s < steps) copy_stage(block, first_k + s * MMA_K, shared + s * STAGE);
      end_group();
    }
    for (int step = 0; step < steps; ++step) {
      wait_for_groups<STAGES - 2>();
      __syncthreads();  // all have the stage that is next, and none needs the one before it any more
      const int next = step + int(STAGES) - 1;
      if (next < steps) copy_stage(block, first_k + next * MMA_K, shared + next % int(STAGES) * STAGE);
      end_group();
      multiply_stage(shared + step % int(STAGES) * STAGE, warp_m, warp_n, sum);
    }
    __syncthreads();  // of this matrix no warp needs a stage any more

#pragma unroll
    for (int i = 0; i < MT; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int64_t m = block.first_m + warp_m + i * 16 + lane / 4 + half * 8;
        if (m < M) store_row(o, batch, m, block.first_n + warp_n + lane % 4 * 2, sum[i], half);
      }
  }
}

#define MATMUL_LAUNCH {0, Order::TILES_M * Order::TILES_N, SPLIT_K, BATCH > 0 ? (BATCH < 65535 ? BATCH : 65535) : 1, THREADS, 1, 1, SHARED}
