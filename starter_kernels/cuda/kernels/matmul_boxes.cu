// C = alpha A B, then the epilogue, of half floats whose sums are floats, on cards that multiply 64 x TILE_N by four warps together. B is a constant.
//
// One warp brings what the others multiply: a thread of it copies LINE steps of K of a tile at a time, a box of A and a block of B, which was packed at load
// (amdahl_kernel_1) as it will lie in shared memory. What A and B are is said above: matrices (boxes_of_matrix.h), or windows of images and a convolution's
// weights (boxes_of_windows.h). WGMMA_STAGES such steps are there or on their way. Those of B that have a place are asked for while the
// kernels before still run. WARPGROUPS of four warps have 64 rows of C each; a barrier a step says that it has come, another that all have multiplied it.
//
// SPLIT_K blocks, a cluster, share the steps of a tile where the output has too few tiles for the card (pushed_sums.h). Where it has more than fit the card at
// a time, blocks take every BLOCKS-th tile: the next one's steps arrive while the results of one are stored.

enum : int {
  BYTES_A = TILE_M * LINE * 2,
  BYTES_B = TILE_N * LINE * 2,
  STAGE = BYTES_A + BYTES_B,
  THREADS = CONSUMERS + 32,
  AT_SLOTS = WGMMA_STAGES * STAGE,
  AT_RESULTS = AT_SLOTS + SLOTS,
  AT_BARRIERS = (AT_RESULTS + RESULTS + 7) / 8 * 8,
  SHARED = AT_BARRIERS + (2 * WGMMA_STAGES + 1) * 8 + 1024,  // tiles begin at a multiple of 1024
  BLOCKS_OF_UNIT = SHARED + 1024 <= UNIT_SHARED / 2 ? UNIT_SHARED / (SHARED + 1024) : 1
};
enum : int64_t { PART = steps_of_part<LINE>(), LINES_K = (K + LINE - 1) / LINE };

typedef TileOrder<TILE_M, TILE_N> Order;
enum : int64_t {
  TILES = Order::TILES_M * Order::TILES_N,
  BLOCKS = SPLIT_K == 1 && TILES > UNITS * BLOCKS_OF_UNIT ? UNITS * BLOCKS_OF_UNIT : TILES
};

// Steps of K on their way to shared memory, in the order in which they are multiplied, one tile after the other.
struct Stages {
  uint8_t* shared;
  uint64_t *full, *empty;  // barriers of a stage: its bytes are there; the warps have multiplied them

  inline uint8_t* a(int step) const { return shared + step % int(WGMMA_STAGES) * STAGE; }
  inline uint8_t* b(int step) const { return a(step) + BYTES_A; }
  inline void copy_b(int step, const uint8_t* from) const {
    uint64_t* barrier = full + step % int(WGMMA_STAGES);
    arrive_and_expect(barrier, STAGE);
    copy_block(b(step), from, BYTES_B, barrier);
  }
  inline void copy_a(int step, const TensorMap* map, int64_t k, int64_t m) const { copy_tile_of_a(a(step), map, k, m, full + step % int(WGMMA_STAGES)); }
  inline void wait_until_free(int step) const { wait_for_phase(empty + step % int(WGMMA_STAGES), (step / int(WGMMA_STAGES) + 1) % 2); }
  inline void wait_until_there(int step) const { wait_for_phase(full + step % int(WGMMA_STAGES), step / int(WGMMA_STAGES) % 2); }
  inline void give_back(int step) const {
    if (threadIdx.x % 32 == 0) arrive(empty + step % int(WGMMA_STAGES));
  }
};

// The thread that copies: all tiles of the block, `steps` of K from first_k on.
static inline void bring(const Operands& o, const TensorMap* map, const Stages& stages, int64_t first_k, int steps, int ahead) {
  int count = 0;
  for (int64_t tile = blockIdx.x; tile < TILES; tile += BLOCKS) {
    const Place first = Order::first_of(tile);
    const uint8_t* b = (const uint8_t*)o.in[1] + (first.n / TILE_N * LINES_K + first_k / LINE) * BYTES_B;
    for (int s = 0; s < steps; ++s, ++count) {
      if (count >= WGMMA_STAGES) stages.wait_until_free(count);
      if (count >= ahead) stages.copy_b(count, b + s * int64_t(BYTES_B));
      stages.copy_a(count, map, first_k + s * LINE, first.m);
    }
  }
}

extern "C" __global__ void CLUSTER __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands o, const __grid_constant__ TensorMap map_of_a) {
  extern __shared__ uint8_t dynamic[];
  uint8_t* shared = dynamic + (1024 - shared_address(dynamic) % 1024) % 1024;
  const Stages stages = {shared, (uint64_t*)(shared + AT_BARRIERS), (uint64_t*)(shared + AT_BARRIERS) + WGMMA_STAGES};
  uint64_t* summed = stages.empty + WGMMA_STAGES;
  const int part = SPLIT_K > 1 ? int(blockIdx.y) : 0, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int64_t first_k = part * PART, end_k = least(first_k + PART, K);
  const int steps = end_k > first_k ? int((end_k - first_k + LINE - 1) / LINE) : 0;
  if (threadIdx.x == 0) {
    for (int s = 0; s < WGMMA_STAGES; ++s) make_barrier(stages.full + s, 1), make_barrier(stages.empty + s, CONSUMERS / 32);
    make_barrier(summed, 1);
    show_barriers();
    show_shared_writes();
    if (SPLIT_K > 1) arrive_and_expect(summed, SLOTS);
  }
  if constexpr (SPLIT_K > 1) meet_cluster();
  else __syncthreads();

  if (warp == CONSUMERS / 32) {
    const int ahead = steps < WGMMA_STAGES ? steps : int(WGMMA_STAGES);
    if (lane == 0) {
      const uint8_t* b = (const uint8_t*)o.in[1] + (Order::first_of(blockIdx.x).n / TILE_N * LINES_K + first_k / LINE) * BYTES_B;
      for (int s = 0; s < ahead; ++s) stages.copy_b(s, b + s * int64_t(BYTES_B));
    }
    wait_for_producers();
    if (lane == 0) bring(o, &map_of_a, stages, first_k, steps, ahead);
    return;
  }

  wait_for_producers();
  const int row = warp * 16 + lane / 4, column = part * WIDTH + lane % 4 * 2;
  out_t* const results = (out_t*)(shared + AT_RESULTS) + warp * 16 * RESULT_STEP;
  int count = 0;
  for (int64_t tile = blockIdx.x; tile < TILES; tile += BLOCKS) {
    const Place first = Order::first_of(tile);
    const auto extras_of = [&](int j, int half) { return fetch_extras(o.in, 0, first.m + row + half * 8, first.n + column + j * 8); };
    Extras extras[EARLY ? EIGHTS : 1][2];
    if constexpr (EARLY)
#pragma unroll
      for (int j = 0; j < EIGHTS; ++j) extras[j][0] = extras_of(j, 0), extras[j][1] = extras_of(j, 1);

    float sum[TILE_N / 2] = {};
#pragma unroll 1
    for (int step = 0; step < steps; ++step, ++count) {
      stages.wait_until_there(count);
      const uint64_t lines_a = tile_descriptor(stages.a(count) + threadIdx.x / 128 * (64 * LINE * 2)), lines_b = tile_descriptor(stages.b(count));
      begin_multiplications();
#pragma unroll
      for (int k = 0; k < LINE / 16; ++k) multiply_tiles(sum, lines_a + k * 2, lines_b + k * 2);  // 16 steps are 32 bytes
      end_multiplications();
      wait_for_multiplications<1>();
      if (step > 0) stages.give_back(count - 1);
    }
    wait_for_multiplications<0>();
    if (steps > 0) stages.give_back(count - 1);

    float total[EIGHTS][4];
    add_over_cluster(sum, total, part, shared + AT_SLOTS, summed);
    const auto put = [&](int j, int half, const Extras& own) {
      *(TwoResults*)(results + (lane / 4 + half * 8) * RESULT_STEP + j * 8 + lane % 4 * 2) = {finish_of(total[j][half * 2] ALPHA, own, 0),
                                                                                               finish_of(total[j][half * 2 + 1] ALPHA, own, 1)};
    };
#pragma unroll
    for (int first_j = 0; first_j < EIGHTS; first_j += AT_ONCE) {
      Extras late[EARLY ? 1 : AT_ONCE][2];
#pragma unroll
      for (int j = first_j; j < first_j + AT_ONCE && j < EIGHTS; ++j)
        if constexpr (!EARLY) late[j - first_j][0] = extras_of(j, 0), late[j - first_j][1] = extras_of(j, 1);
#pragma unroll
      for (int j = first_j; j < first_j + AT_ONCE && j < EIGHTS; ++j)
#pragma unroll
        for (int half = 0; half < 2; ++half) put(j, half, EARLY ? extras[EARLY ? j : 0][half] : late[EARLY ? 0 : j - first_j][half]);
    }
    __syncwarp();
    const int64_t m = first.m + warp * 16, n = first.n + part * WIDTH;
    store_rows(results, (out_t*)o.out[0] + C_OFFSET + m * C_ROW + n, M - m, N - n);
    __syncwarp();  // the next tile's results may be written
  }
}

// Packs B: a thread has 16 bytes of a line.
extern "C" __global__ void __launch_bounds__(256) amdahl_kernel_1(const __grid_constant__ PackOperands o) {
  const int64_t i = blockIdx.x * 256ll + threadIdx.x;
  if (i >= Order::TILES_N * LINES_K * TILE_N * 8) return;
  const int chunk = i % 8, line = i / 8 % TILE_N;
  const int64_t step = i / 8 / TILE_N % LINES_K, n = i / 8 / TILE_N / LINES_K * TILE_N + line, k = step * LINE + chunk * 8;
  uint16_t* to = (uint16_t*)o.out + (i - chunk + (chunk ^ line % 8)) * 8;
  for (int j = 0; j < 8; ++j) to[j] = n < N && k + j < K ? element_of_b(o.in, k + j, n) : uint16_t(0);
}

TABLE Launch amdahl_launches[] = {{0, BLOCKS, SPLIT_K, 1, THREADS, 1, 1, SHARED}};
TABLE uint64_t amdahl_workspace_bytes = 0;
TABLE Pack amdahl_packs[] = {{0}, {Order::TILES_N * LINES_K * BYTES_B, {1, (Order::TILES_N * LINES_K * TILE_N * 8 + 255) / 256, 1, 1, 256, 1, 1, 0}}};
