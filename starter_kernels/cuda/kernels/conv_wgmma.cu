// Convolution of half floats as a product on cards that multiply 64 x TILE_N by four warps together: output channels x positions of all images =
// weights x what each position's window sees. One group.
//
// WARPGROUPS of four warps have 64 channels each and share a tile of TILE_N positions. LINE steps of K are multiplied at a time: of one tap and as many
// channels where there are channels enough (BY_TAPS), else as the weights lie. Weights are packed at load (amdahl_kernel_1) as they will lie in shared memory,
// so that one thread's copy brings a step; what positions see is gathered into registers while the step before is multiplied. A thread gathers of one position.
//
// SPLIT_K blocks, a cluster, share the steps of a tile where the output has too few tiles for the card; each then adds part of the tile's sums
// (cluster_sums.h).

enum : int {
  LINE = 64,
  AHEAD = WGMMA_STAGES - 2,
  BYTES_W = TILE_M * LINE * 2,
  BYTES_X = TILE_N * LINE * 2,
  STAGE = BYTES_W + BYTES_X,
  TILES = WGMMA_STAGES * STAGE > SUMS ? WGMMA_STAGES * STAGE : SUMS,
  SHARED = TILES + WGMMA_STAGES * 8 + 1024,  // tiles begin at a multiple of 1024
  BY_TAPS = C >= 32,
  LINES_C = BY_TAPS ? (C + LINE - 1) / LINE : 1,
  STEPS = BY_TAPS ? TAPS * LINES_C : (K + LINE - 1) / LINE,
  PART = (STEPS + SPLIT_K - 1) / SPLIT_K,
  // Of a position 8 steps of K are 16 bytes of a line; the thread has every APART-th of them.
  APART = THREADS / TILE_N,
  PIECES = 8 / APART > 0 ? 8 / APART : 1
};
enum : int64_t { TILES_O = (O + TILE_M - 1) / TILE_M, TILES_P = (POSITIONS + TILE_N - 1) / TILE_N };

// The 8 steps of K from `piece` on of `step`: where the position sees them, or zeros.
struct Eight {
  uint16_t at[8];
};
static inline Eight gather(const Position& p, int step, int piece) {
  Eight eight;
  const uint16_t* tap = nullptr;
  if constexpr (BY_TAPS) tap = (const uint16_t*)seen(p, step / LINES_C);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int k = (BY_TAPS ? step % LINES_C : step) * LINE + piece * 8 + i;
    const int channel = BY_TAPS ? k : k / TAPS;
    if constexpr (!BY_TAPS) tap = (const uint16_t*)seen(p, k % TAPS);
    eight.at[i] = tap && channel < C ? tap[index_t(channel) * index_t(IN_PIXELS)] : uint16_t(0);
  }
  return eight;
}

struct alignas(16) Sixteen {
  uint32_t at[4];
};
static inline void put(uint8_t* tile, int line, int piece, const Eight& eight) {
  Sixteen bytes;
#pragma unroll
  for (int i = 0; i < 4; ++i) bytes.at[i] = uint32_t(eight.at[2 * i]) | uint32_t(eight.at[2 * i + 1]) << 16;
  *(Sixteen*)(tile + line * 128 + (piece ^ line % 8) * 16) = bytes;
}

// Four adjacent positions of an output channel from `p` on, of which those from POSITIONS on do not exist. Where images have a multiple of four, they are
// in one.
static inline void store_four(const Operands& o, int64_t channel, int64_t p, const Four& sums) {
  if (channel >= O || p >= POSITIONS) return;
  out_t* out = (out_t*)o.out[0];
  if constexpr (PIXELS % 4 == 0) {
    const int64_t n = p / PIXELS, pixel = p % PIXELS;
    out_t* to = out + (n * O + channel) * PIXELS + pixel;
    FourResults four;
#pragma unroll
    for (int j = 0; j < 4; ++j) four.at[j] = finish(sums.at[j], o.in, n, channel, pixel + j);
    if (uint64_t(to) % sizeof(FourResults) == 0) *(FourResults*)to = four;
    else
      for (int j = 0; j < 4; ++j) to[j] = four.at[j];
  } else {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (p + j >= POSITIONS) continue;
      const int64_t n = (p + j) / PIXELS, pixel = (p + j) % PIXELS;
      out[(n * O + channel) * PIXELS + pixel] = finish(sums.at[j], o.in, n, channel, pixel);
    }
  }
}

extern "C" __global__ void CLUSTER __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands o) {
  extern __shared__ uint8_t dynamic[];
  uint8_t* shared = dynamic + (1024 - shared_address(dynamic) % 1024) % 1024;
  uint64_t* arrived = (uint64_t*)(shared + TILES);
  const int64_t tile_o = blockIdx.x % TILES_O, first_p = blockIdx.x / TILES_O * TILE_N;
  const int first = int(blockIdx.y) * PART, steps = STEPS - first < PART ? (STEPS > first ? STEPS - first : 0) : PART;
  const uint8_t* weights = (const uint8_t*)o.in[1] + (tile_o * STEPS + first) * BYTES_W;
  const bool one = threadIdx.x == 0;
  const int line = threadIdx.x % TILE_N, piece = threadIdx.x / TILE_N;

  const auto copy_weights = [&](int step) {
    const int place = step % int(WGMMA_STAGES);
    arrive_and_expect(arrived + place, BYTES_W);
    copy_block(shared + place * STAGE, weights + step * int64_t(BYTES_W), BYTES_W, arrived + place);
  };
  if (one) {
    for (int s = 0; s < WGMMA_STAGES; ++s) make_barrier(arrived + s, 1);
    show_shared_writes();
    for (int s = 0; s < AHEAD && s < steps; ++s) copy_weights(s);
  }
  wait_for_producers();
  __syncthreads();

  const Position position_of_thread = position((const x_t*)o.in[0], 0, first_p + line);
  Eight next[PIECES];
#pragma unroll
  for (int j = 0; j < PIECES; ++j) next[j] = gather(position_of_thread, first, piece + j * APART);
  float sum[TILE_N / 2] = {};
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    const int place = step % int(WGMMA_STAGES);
    uint8_t* tile = shared + place * STAGE;
#pragma unroll
    for (int j = 0; j < PIECES; ++j)
      if (piece + j * APART < 8) put(tile + BYTES_W, line, piece + j * APART, next[j]);
    show_shared_writes();
    __syncthreads();  // all have put what this step sees, and none multiplies the step before the last any more
    if (one && step + AHEAD < steps) copy_weights(step + AHEAD);
    if (step + 1 < steps)
#pragma unroll
      for (int j = 0; j < PIECES; ++j) next[j] = gather(position_of_thread, first + step + 1, piece + j * APART);
    wait_for_phase(arrived + place, step / int(WGMMA_STAGES) % 2);
    const uint64_t lines_w = tile_descriptor(tile + threadIdx.x / 128 * (64 * LINE * 2)), lines_x = tile_descriptor(tile + BYTES_W);
    begin_multiplications();
#pragma unroll
    for (int k = 0; k < LINE / 16; ++k) multiply_tiles(sum, lines_w + k * 2, lines_x + k * 2);  // 16 steps are 32 bytes
    end_multiplications();
    wait_for_multiplications<1>();
  }
  wait_for_multiplications<0>();

  add_and_store(sum, (float*)shared, [&](int row, int column, const Four& four) { store_four(o, tile_o * TILE_M + row, first_p + column, four); });
}

// Packs the weights: a thread has 16 bytes of a line.
extern "C" __global__ void __launch_bounds__(256) amdahl_kernel_1(const __grid_constant__ PackOperands o) {
  const int64_t i = blockIdx.x * 256ll + threadIdx.x;
  if (i >= TILES_O * STEPS * TILE_M * 8) return;
  const int piece = i % 8, line = i / 8 % TILE_M, step = i / 8 / TILE_M % STEPS;
  const int64_t channel_of_out = i / 8 / TILE_M / STEPS * TILE_M + line;
  uint16_t* to = (uint16_t*)o.out + (i - piece + (piece ^ line % 8)) * 8;
  for (int j = 0; j < 8; ++j) {
    const int k = (BY_TAPS ? step % LINES_C : step) * LINE + piece * 8 + j;
    const int channel = BY_TAPS ? k : k / TAPS, tap = BY_TAPS ? step / LINES_C : k % TAPS;
    to[j] = channel_of_out < O && channel < C ? ((const uint16_t*)o.in)[(channel_of_out * C + channel) * TAPS + tap] : uint16_t(0);
  }
}

TABLE Launch amdahl_launches[] = {{0, TILES_O * TILES_P, SPLIT_K, 1, THREADS, 1, 1, SHARED}};
TABLE uint64_t amdahl_workspace_bytes = 0;
TABLE Pack amdahl_packs[] = {{0}, {TILES_O * STEPS * BYTES_W, {1, (TILES_O * STEPS * TILE_M * 8 + 255) / 256, 1, 1, 256, 1, 1, 0}}};
