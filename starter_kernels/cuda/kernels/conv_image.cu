// Convolution of an image that has few channels, row-major, to an output whose channels are adjacent: half floats, sums in floats, on tensor cores.
//
// A block has ROWS rows of 16 adjacent windows of one image and TILE_O channels of the output; a warp ROWS_OF_WARP of the rows. What the block's windows see is
// brought to shared memory, with zeros beside the image. K runs over lines of eight taps: of every channel, every row of the window as many as it needs. The
// tensor cores want of each window two adjacent taps a thread: they are read where they lie, and taps that a line has too many are zeros on both sides. Weights
// are packed at load (amdahl_kernel_1) as threads want them, and copied while the kernels before still run.

enum : int {
  EIGHTS_W = (TAPS_W + 7) / 8,
  LINES = CHANNELS * TAPS_H * EIGHTS_W,
  STEPS = (LINES + 1) / 2,  // two lines are 16 steps of K
  ROWS = WARPS * ROWS_OF_WARP,
  THREADS = WARPS * 32,
  COLUMNS = 16,
  SEEN_H = (ROWS - 1) * STEP_H + (TAPS_H - 1) * DILATION_H + 1,
  SEEN_W = ((COLUMNS - 1) * STEP_W + (EIGHTS_W * 8 - 1) * DILATION_W + 2) / 2 * 2,
  EIGHTS_O = TILE_O / 8,
  WEIGHTS = STEPS * EIGHTS_O * 32 * 4,  // halves of one tile of channels: of a step and eight channels a thread has four
  RESULT_STEP = TILE_O + 8,
  SEEN = (CHANNELS * SEEN_H * SEEN_W + 7) / 8 * 8,
  RESULTS = WARPS * COLUMNS * RESULT_STEP,
  SHARED = (WEIGHTS + SEEN + RESULTS) * 2,
  LAST_TAPS = TAPS_W - (EIGHTS_W - 1) * 8,  // of the last line of a row
  PIECE = N % 8 == 0 ? 8 : 1                // adjacent results that one store takes
};
enum : int64_t { BLOCKS_W = (OUT_W + COLUMNS - 1) / COLUMNS, BLOCKS_H = (OUT_H + ROWS - 1) / ROWS, TILES_O = (N + TILE_O - 1) / TILE_O };

struct alignas(PIECE * sizeof(out_t)) PieceOfResults {
  out_t at[PIECE];
};
struct alignas(2 * sizeof(out_t)) TwoResults {
  out_t at[2];
};

// Two adjacent taps of a line, of which those from `taps` on are zeros.
static inline uint32_t two_taps(const uint16_t* at, int tap, int taps) {
  uint32_t two;
  if constexpr (STEP_W % 2 == 0 && DILATION_W == 1) two = *(const uint32_t*)at;
  else two = uint32_t(at[0]) | uint32_t(at[DILATION_W]) << 16;
  return tap + 1 < taps ? two : tap < taps ? two & 0xffffu : 0u;
}

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands o) {
  alignas(16) extern __shared__ uint16_t shared[];
  uint16_t *weights = shared, *seen = shared + WEIGHTS, *results = seen + SEEN;
  const uint16_t* packed = (const uint16_t*)o.in[1] + int64_t(blockIdx.y) * WEIGHTS;
  for_own<WEIGHTS / 8, THREADS>([&](int i) { copy_async<16>(weights + i * 8, packed + i * 8, 16); });
  end_group();
  wait_for_producers();

  const int image = int(blockIdx.x / (BLOCKS_W * BLOCKS_H)), first_h = int(blockIdx.x / BLOCKS_W % BLOCKS_H) * int(ROWS), first_w = int(blockIdx.x % BLOCKS_W) * COLUMNS;
  const uint16_t* x = (const uint16_t*)o.in[0] + int64_t(image) * (CHANNELS * IN_H * IN_W);
  for_own<CHANNELS * SEEN_H * SEEN_W, THREADS>([&](int i) {
    const int w = i % SEEN_W, h = i / SEEN_W % SEEN_H, c = i / SEEN_W / SEEN_H;
    const int at_h = first_h * int(STEP_H) - int(PAD_H) + h, at_w = first_w * int(STEP_W) - int(PAD_W) + w;
    const bool inside = unsigned(at_h) < unsigned(IN_H) && unsigned(at_w) < unsigned(IN_W);
    seen[i] = inside ? x[(c * int(IN_H) + at_h) * int64_t(IN_W) + at_w] : uint16_t(0);
  });
  wait_for_groups<0>();
  __syncthreads();

  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, tap = lane % 4 * 2;
  out_t* const own = (out_t*)results + warp * COLUMNS * RESULT_STEP;
#pragma unroll 1
  for (int row_of_warp = 0; row_of_warp < ROWS_OF_WARP; ++row_of_warp) {
    const int row = warp * int(ROWS_OF_WARP) + row_of_warp;
    const uint16_t* from = seen + row * STEP_H * SEEN_W + lane / 4 * int(STEP_W) + tap * int(DILATION_W);
    const auto taps_of = [&](int line, int below) -> uint32_t {
      if (line >= LINES) return 0u;
      const int eight = line % EIGHTS_W, h = line / EIGHTS_W % int(TAPS_H), c = line / EIGHTS_W / int(TAPS_H);
      const uint16_t* at = from + (c * SEEN_H + h * int(DILATION_H)) * SEEN_W + eight * 8 * int(DILATION_W) + below * int(STEP_W);
      return two_taps(at, tap, eight == EIGHTS_W - 1 ? int(LAST_TAPS) : 8);
    };
    float sum[EIGHTS_O][4] = {};
#pragma unroll UNROLL
    for (int step = 0; step < STEPS; ++step) {
      const uint32_t a[4] = {taps_of(step * 2, 0), taps_of(step * 2, 8), taps_of(step * 2 + 1, 0), taps_of(step * 2 + 1, 8)};
#pragma unroll
      for (int j = 0; j < EIGHTS_O; ++j) {
        const Vector<uint32_t, 2> b = load_vector<2>((const uint32_t*)(weights + (step * EIGHTS_O + j) * 128) + lane * 2);
        multiply_add(sum[j], a, b.at[0], b.at[1]);
      }
    }

    const int64_t m = (int64_t(image) * OUT_H + first_h + row) * OUT_W + first_w, n = blockIdx.y * int64_t(TILE_O);
    const int there = first_h + row < OUT_H ? (OUT_W - first_w < COLUMNS ? int(OUT_W) - first_w : COLUMNS) : 0;
#pragma unroll
    for (int j = 0; j < EIGHTS_O; ++j)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int column = lane / 4 + half * 8;
        const Extras extras = fetch_extras(o.in, 0, column < there ? m + column : M, n + j * 8 + tap);
        *(TwoResults*)(own + column * RESULT_STEP + j * 8 + tap) = {finish_of(sum[j][half * 2], extras, 0), finish_of(sum[j][half * 2 + 1], extras, 1)};
      }
    __syncwarp();
    for (int i = lane; i < COLUMNS * TILE_O / PIECE; i += 32) {
      const int column = i / (TILE_O / PIECE), channel = i % (TILE_O / PIECE) * PIECE;
      if (column < there && n + channel < N)
        *(PieceOfResults*)((out_t*)o.out[0] + (m + column) * N + n + channel) = *(const PieceOfResults*)(own + column * RESULT_STEP + channel);
    }
    __syncwarp();
  }
}

// Packs the weights: a thread has the four that a thread of the product wants of a step and eight channels: two adjacent taps of each of its two lines.
extern "C" __global__ void __launch_bounds__(256) amdahl_kernel_1(const __grid_constant__ PackOperands o) {
  const int64_t i = blockIdx.x * 256ll + threadIdx.x;
  if (i >= TILES_O * (WEIGHTS / 4)) return;
  const int lane = i % 32, j = i / 32 % EIGHTS_O, step = i / 32 / EIGHTS_O % STEPS;
  const int64_t channel = i / 32 / EIGHTS_O / STEPS * TILE_O + j * 8 + lane / 4;
  for (int k = 0; k < 4; ++k) {
    const int line = step * 2 + k / 2, w = line % EIGHTS_W * 8 + lane % 4 * 2 + k % 2, h = line / EIGHTS_W % int(TAPS_H), c = line / EIGHTS_W / int(TAPS_H);
    const bool there = channel < N && line < LINES && w < TAPS_W;
    ((uint16_t*)o.out)[i * 4 + k] = there ? ((const uint16_t*)o.in)[((channel * CHANNELS + c) * TAPS_H + h) * TAPS_W + w] : uint16_t(0);
  }
}

TABLE Launch amdahl_launches[] = {{0, IMAGES * BLOCKS_W * BLOCKS_H, TILES_O, 1, THREADS, 1, 1, SHARED}};
TABLE uint64_t amdahl_workspace_bytes = 0;
TABLE Pack amdahl_packs[] = {{0}, {TILES_O * WEIGHTS * 2, {1, (TILES_O * (WEIGHTS / 4) + 255) / 256, 1, 1, 256, 1, 1, 0}}};
