// C[b] = alpha A[b] B, then the epilogue, of half floats whose sums are floats, on cards that multiply 64 x TILE_N by four warps together. B is a constant.
//
// WARPGROUPS of four warps have 64 rows of C each and share a tile of B. At load B is packed (amdahl_kernel_1): TILE_N lines of 64 steps of K as
// they will lie in shared memory, so that one thread's copy brings a step, and no stride of B's matters. Rows of A are copied 16 bytes at a time. WGMMA_STAGES
// steps are in shared memory: one is multiplied, one is being given back, the others are on their way.
//
// SPLIT_K blocks, a cluster, share the steps of a tile where the output has too few tiles for the card; each then adds part of the tile's sums
// (cluster_sums.h).

enum : int {
  LINE = 64,  // steps of K
  AHEAD = WGMMA_STAGES - 2,
  BYTES_A = TILE_M * LINE * 2,
  BYTES_B = TILE_N * LINE * 2,
  STAGE = BYTES_A + BYTES_B,
  TILES = WGMMA_STAGES * STAGE > SUMS ? WGMMA_STAGES * STAGE : SUMS,
  BARRIERS = WGMMA_STAGES * 8,
  SHARED = TILES + BARRIERS + 1024  // tiles begin at a multiple of 1024
};
enum : int64_t { PART = steps_of_part<LINE>(), LINES_K = K > 0 ? (K + LINE - 1) / LINE : 1 };

typedef TileOrder<TILE_M, TILE_N> Order;

// LINE steps of K of the tile's rows; zeros beyond the matrix. ALIGNED: 16 bytes of a row begin at a multiple of that.
template <bool ALIGNED>
static inline void copy_rows(uint8_t* to, const uint16_t* from, int64_t rows, int64_t steps) {
  for_own<TILE_M * 8, THREADS>([&](int i) {
    const int row = i / 8, chunk = i % 8;
    const int real = row < rows && chunk * 8 < steps ? int(least(8, steps - chunk * 8)) : 0;
    const uint16_t* source = real > 0 ? from + row * A_ROW + chunk * 8 : from;
    uint16_t* place = (uint16_t*)(to + row * 128 + (chunk ^ row % 8) * 16);
    if constexpr (ALIGNED) copy_async<16>(place, source, real * 2);
    else
      for (int j = 0; j < 8; ++j) place[j] = j < real ? source[j] : uint16_t(0);
  });
}

static inline void copy_a(bool aligned, uint8_t* to, const uint16_t* from, int64_t rows, int64_t steps) {
  if (aligned) copy_rows<true>(to, from, rows, steps);
  else copy_rows<false>(to, from, rows, steps);
}

// Four adjacent sums of row m from column n on, of which those from N on do not exist.
static inline void store_four(const Operands& o, int64_t batch, int64_t m, int64_t n, const Four& sums) {
  if (m >= M || n >= N) return;
  out_t* to = (out_t*)o.out[0] + begin_of_c(batch) + m * C_ROW + n * C_COLUMN;
  if (C_COLUMN == 1 && n + 4 <= N && uint64_t(to) % sizeof(FourResults) == 0) {
    FourResults four;
#pragma unroll
    for (int j = 0; j < 4; ++j) four.at[j] = finish(sums.at[j] ALPHA, o.in, batch, m, n + j);
    *(FourResults*)to = four;
  } else {
#pragma unroll
    for (int j = 0; j < 4; ++j)
      if (n + j < N) to[j * C_COLUMN] = finish(sums.at[j] ALPHA, o.in, batch, m, n + j);
  }
}

extern "C" __global__ void CLUSTER __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands o) {
  extern __shared__ uint8_t dynamic[];
  uint8_t* shared = dynamic + (1024 - shared_address(dynamic) % 1024) % 1024;
  uint64_t* arrived = (uint64_t*)(shared + TILES);
  const Place first = Order::first_of(blockIdx.x);
  const int64_t first_k = blockIdx.y * PART, end_k = least(first_k + PART, K);
  const int steps = end_k > first_k ? int((end_k - first_k + LINE - 1) / LINE) : 0;
  const uint8_t* b = (const uint8_t*)o.in[1] + (first.n / TILE_N * LINES_K + first_k / LINE) * BYTES_B;
  const bool one = threadIdx.x == 0;

  const auto copy_b = [&](int step, int place) {
    arrive_and_expect(arrived + place, BYTES_B);
    copy_block(shared + place * STAGE + BYTES_A, b + step * int64_t(BYTES_B), BYTES_B, arrived + place);
  };
  if (one) {
    for (int s = 0; s < WGMMA_STAGES; ++s) make_barrier(arrived + s, 1);
    show_shared_writes();
    for (int s = 0; s < AHEAD && s < steps; ++s) copy_b(s, s);
  }
  wait_for_producers();
  __syncthreads();

  int count = 0;  // of steps that this block has taken, all matrices together
  for (int64_t batch = blockIdx.z; batch < BATCH; batch += gridDim.z) {
    const uint16_t* a = (const uint16_t*)o.in[0] + begin_of_a(batch) + first.m * A_ROW + first_k;
    const bool aligned = A_ROW % 8 == 0 && uint64_t(a) % 16 == 0;
    float sum[TILE_N / 2] = {};
#pragma unroll 1
    for (int s = 0; s < AHEAD; ++s) {
      if (s < steps) {
        const int place = (count + s) % int(WGMMA_STAGES);
        if (one && count > 0) copy_b(s, place);
        copy_a(aligned, shared + place * STAGE, a + s * LINE, M - first.m, end_k - first_k - s * LINE);
      }
      end_group();
    }
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      wait_for_groups<AHEAD - 1>();
      show_shared_writes();
      __syncthreads();  // all have the rows of A of this step, and none multiplies the step before the last any more
      const int next = step + int(AHEAD);
      if (next < steps) {
        const int place = (count + next) % int(WGMMA_STAGES);
        if (one) copy_b(next, place);
        copy_a(aligned, shared + place * STAGE, a + next * LINE, M - first.m, end_k - first_k - next * LINE);
      }
      end_group();
      const int now = count + step, place = now % int(WGMMA_STAGES);
      wait_for_phase(arrived + place, now / int(WGMMA_STAGES) % 2);
      const uint64_t lines_a = tile_descriptor(shared + place * STAGE + threadIdx.x / 128 * (64 * LINE * 2)), lines_b = tile_descriptor(shared + place * STAGE + BYTES_A);
      begin_multiplications();
#pragma unroll
      for (int k = 0; k < LINE / 16; ++k) multiply_tiles(sum, lines_a + k * 2, lines_b + k * 2);  // 16 steps are 32 bytes
      end_multiplications();
      wait_for_multiplications<1>();
    }
    wait_for_multiplications<0>();
    count += steps;

    add_and_store(sum, (float*)shared, [&](int row, int column, const Four& four) { store_four(o, batch, first.m + row, first.n + column, four); });
    show_shared_writes();
  }
}

// Packs B: a thread has 16 bytes of a line.
extern "C" __global__ void __launch_bounds__(256) amdahl_kernel_1(const __grid_constant__ PackOperands o) {
  const int64_t i = blockIdx.x * 256ll + threadIdx.x, tiles = (N + TILE_N - 1) / TILE_N;
  if (i >= tiles * LINES_K * TILE_N * 8) return;
  const int chunk = i % 8, line = i / 8 % TILE_N;
  const int64_t step = i / 8 / TILE_N % LINES_K, n = i / 8 / TILE_N / LINES_K * TILE_N + line, k = step * LINE + chunk * 8;
  const uint16_t* b = (const uint16_t*)o.in + begin_of_b(0);
  uint16_t* to = (uint16_t*)o.out + (i - chunk + (chunk ^ line % 8)) * 8;
  for (int j = 0; j < 8; ++j) to[j] = n < N && k + j < K ? b[(k + j) * B_ROW + n * B_COLUMN] : uint16_t(0);
}

#define TILES_OF_N ((N + TILE_N - 1) / TILE_N)
#define MATMUL_LAUNCH {0, Order::TILES_M * Order::TILES_N, SPLIT_K, BATCH > 0 ? (BATCH < 65535 ? BATCH : 65535) : 1, THREADS, 1, 1, SHARED}
TABLE Pack amdahl_packs[] = {{0}, {TILES_OF_N * LINES_K * BYTES_B, {1, (TILES_OF_N * LINES_K * TILE_N * 8 + 255) / 256, 1, 1, 256, 1, 1, 0}}};
