// Convolution of u8 by i8, summed in int32: several input channels are multiplied in one addition (gemm_tile.h), and neighbouring pixels are the
// lanes of a vector.
//
// The image is copied once a call: a plane an element of STEPS channels, with its padding made explicit (conv_prepare.h), so that a vector of pixels at
// any tap lies in a row, and rows follow each other: the last columns of a row that are no pixels are computed and left out. A tile is MR output channels
// by NV vectors of pixels: 8 x 3 sums take 3 loads and 8 broadcasts for 24 multiplications. Weights are packed at load as
// [group][tile of channels][element][tap][MR], read in order.
//
// A task is a tile of channels by up to PANELS panels of pixels: its sums are finished together, channel by channel, where pixels lie side by side.

typedef uint32_t Element __attribute__((may_alias));

constexpr int64_t CG = C / G, OG = O / G, TAPS = KD * KH * KW, P = OD * OH * OW;
constexpr int64_t ELEMENTS = ceil_div(CG, STEPS);
constexpr int64_t NR = NV * LANES, FLAT = (OH - 1) * WQ + OW;  // places of a depth, from the first pixel to the last
constexpr int64_t ALL_PANELS = ceil_div(FLAT, NR), CHUNKS_A_DEPTH = ceil_div(ALL_PANELS, PANELS);  // chunks of equal size: threads share them
constexpr int64_t TASK_PANELS = ceil_div(ALL_PANELS, CHUNKS_A_DEPTH), CHUNKS = OD * CHUNKS_A_DEPTH, O_TILES = ceil_div(OG, MR);
constexpr int VECS_LEFT = static_cast<int>(ceil_div(FLAT % NR, LANES));  // of the last panel, 0: it is full
constexpr int64_t IMAGE = G * ELEMENTS * CHANNEL;                        // elements of the copy
constexpr int64_t TILE_WEIGHTS = ELEMENTS * TAPS * MR;
constexpr int64_t SUMS = MR * TASK_PANELS * NR + LANES;  // of a thread; a vector more than is there may be read

extern "C" size_t amdahl_workspace_bytes(void) { return 4 * (ceil_div(IMAGE + NR, 16) * 16 + THREADS * ceil_div(SUMS, 16) * 16); }
extern "C" size_t amdahl_packed_bytes(int input) { return input == 1 ? 4 * G * O_TILES * TILE_WEIGHTS : 0; }

static uint32_t bits_of(int8_t w) { return STEPS == 4 ? static_cast<uint8_t>(w) : static_cast<uint16_t>(static_cast<int16_t>(w)); }

extern "C" void amdahl_pack(int, const void* raw, void* packed) {
  const int8_t* w = static_cast<const int8_t*>(raw);
  Element* to = static_cast<Element*>(packed);
  for (int64_t g = 0; g < G; ++g)
    for (int64_t tile = 0; tile < O_TILES; ++tile)
      for (int64_t e = 0; e < ELEMENTS; ++e)
        for (int64_t tap = 0; tap < TAPS; ++tap)
          for (int64_t m = 0; m < MR; ++m, ++to) {
            const int64_t o = tile * MR + m;
            *to = 0;
            for (int64_t step = 0; step < STEPS; ++step)
              if (const int64_t c = e * STEPS + step; c < CG && o < OG) *to |= bits_of(w[((g * OG + o) * CG + c) * TAPS + tap]) << (32 / STEPS * step);
          }
}

// ---- the image in elements -------------------------------------------------------------------------------------------

// Pixels SW apart of STEPS channels, side by side.
static void join_channels(const uint8_t* const (&channel)[STEPS], int64_t first, int64_t count, Element* to) {
  for (int64_t j = 0; j < count; ++j) {
    uint32_t element = 0;
#pragma GCC unroll 4
    for (int64_t step = 0; step < STEPS; ++step) element |= static_cast<uint32_t>(channel[step][first + j * SW]) << (32 / STEPS * step);
    to[j] = element;
  }
}

// Row q of phase `ph` at padded depth `depth`, of element e of a group's channels: a line of each phase of columns. x: the group's first channel.
static void prepare_row(const uint8_t* x, Element* plane, int64_t e, int64_t depth, int64_t ph, int64_t q) {
  const int64_t id = depth - PAD_D, ih = q * SH + ph - PAD_H;
  const bool inside = id >= 0 && id < ID && ih >= 0 && ih < IH;
  const uint8_t* channel[STEPS];
  for (int64_t step = 0; step < STEPS; ++step) {
    const int64_t c = min_of(e * STEPS + step, CG - 1);  // those that are missing meet weights of zero
    channel[step] = x + ((c * ID + (inside ? id : 0)) * IH + (inside ? ih : 0)) * IW;
  }
  for (int64_t pw = 0; pw < PHASES_W; ++pw) {
    Element* line = plane + ((ph * PHASES_W + pw) * HQ + q) * WQ;
    int64_t first = PAD_W > pw ? ceil_div(PAD_W - pw, SW) : 0, end = min_of(WQ, IW + PAD_W > pw ? ceil_div(IW + PAD_W - pw, SW) : 0);
    if (!inside || first > end) first = end = 0;
    for (int64_t j = 0; j < first; ++j) line[j] = 0;
    join_channels(channel, first * SW + pw - PAD_W, end - first, line + first);
    for (int64_t j = end; j < WQ; ++j) line[j] = 0;
  }
}

// ---- products --------------------------------------------------------------------------------------------------------

// Sums of MR channels over VECS vectors of pixels, to rows SUM_ROW apart. x: the first pixel in the group's first plane.
template <int VECS, int64_t SUM_ROW>
static void tile(const Element* x, const Element* w, ACC* sums) {
  Vec acc[MR][VECS];
  UNROLLED for (int m = 0; m < MR; ++m) {
    UNROLLED for (int v = 0; v < VECS; ++v) acc[m][v] = Vec{};
  }
  for (int64_t e = 0; e < ELEMENTS; ++e, x += CHANNEL)
    for (int64_t kd = 0; kd < KD; ++kd)
      for (int64_t kh = 0; kh < KH; ++kh)
        for (int64_t kw = 0; kw < KW; ++kw, w += MR) {
          const ACC* from = reinterpret_cast<const ACC*>(x + tap_offset(kd, kh, kw));
          Vec pixels[VECS];
          UNROLLED for (int v = 0; v < VECS; ++v) pixels[v] = load(from + v * LANES);
          UNROLLED for (int m = 0; m < MR; ++m) {
            const Vec weight = splat_from(reinterpret_cast<const ACC*>(w + m));
            UNROLLED for (int v = 0; v < VECS; ++v) acc[m][v] = multiply_add(pixels[v], weight, acc[m][v]);
          }
        }
  UNROLLED for (int m = 0; m < MR; ++m) {
    UNROLLED for (int v = 0; v < VECS; ++v) store(sums + m * SUM_ROW + v * LANES, acc[m][v]);
  }
}

// `chunk` counts tasks' panels in all depths.
static void run_task(const void* const* in, out_t* out, const Element* image, int64_t n, int64_t g, int64_t o_tile, int64_t chunk, ACC* sums) {
  constexpr int64_t SUM_ROW = TASK_PANELS * NR;
  const int64_t od = chunk / CHUNKS_A_DEPTH, at = chunk % CHUNKS_A_DEPTH;
  const int64_t panel = at * ALL_PANELS / CHUNKS_A_DEPTH, panels = (at + 1) * ALL_PANELS / CHUNKS_A_DEPTH - panel;
  const int64_t begin = panel * NR, end = min_of(FLAT, begin + panels * NR);
  const Element* x = image + g * ELEMENTS * CHANNEL + od * SD * PLANE + begin;
  const Element* w = static_cast<const Element*>(in[1]) + (g * O_TILES + o_tile) * TILE_WEIGHTS;
  for (int64_t i = 0; i < panels; ++i) {
    if (VECS_LEFT > 0 && panel + i + 1 == ALL_PANELS) tile<VECS_LEFT ? VECS_LEFT : 1, SUM_ROW>(x + i * NR, w, sums + i * NR);
    else tile<NV, SUM_ROW>(x + i * NR, w, sums + i * NR);
  }
  // The first pixel at or behind `begin`, and what is behind it. All channels are copied before the first is read: vectors that lie across those just stored
  // wait for them (the first convolution of resnet50 took 0.79 ms instead of 0.57).
  const int64_t p = (od * OH + begin / WQ) * OW + min_of(begin % WQ, OW);
  alignas(64) ACC pixels[MR][SUM_ROW + LANES];
  int64_t kept = end - begin;
  if constexpr (WQ != OW)
    for (int64_t m = 0; m < MR; ++m) kept = keep_pixels(sums + m * SUM_ROW, begin, end, pixels[m]);
  for (int64_t m = 0; m < min_of(MR, OG - o_tile * MR); ++m)
    finish_channel(in, out, n, g * OG + o_tile * MR + m, p, WQ == OW ? sums + m * SUM_ROW : pixels[m], kept);
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void* workspace) {
  Element* image = static_cast<Element*>(workspace);
  ACC* sums = reinterpret_cast<ACC*>(image + ceil_div(IMAGE + NR, 16) * 16);
#pragma omp parallel num_threads(THREADS)
  {
    ACC* mine = sums + omp_get_thread_num() * (ceil_div(SUMS, 16) * 16);
    const int64_t threads = omp_get_num_threads(), me = omp_get_thread_num();
    for (int64_t n = 0; n < N; ++n) {
      const uint8_t* x = static_cast<const uint8_t*>(in[0]) + n * C * ID * IH * IW;
#pragma omp for schedule(static)
      for (int64_t row = 0; row < G * ELEMENTS * DP * PHASES_H * HQ; ++row) {
        const int64_t q = row % HQ, ph = row / HQ % PHASES_H, depth = row / (HQ * PHASES_H) % DP, plane = row / (HQ * PHASES_H * DP);
        prepare_row(x + plane / ELEMENTS * CG * ID * IH * IW, image + plane * CHANNEL + depth * PLANE, plane % ELEMENTS, depth, ph, q);
      }
      constexpr int64_t INNER = PARTITION == 1 ? CHUNKS : O_TILES, TASKS = G * O_TILES * CHUNKS;
      for (int64_t t = TASKS * me / threads; t < TASKS * (me + 1) / threads; ++t) {
        const int64_t outer = t / INNER % (O_TILES * CHUNKS / INNER), inner = t % INNER, g = t / (O_TILES * CHUNKS);
        run_task(in, static_cast<out_t*>(out[0]), image, n, g, PARTITION == 1 ? outer : inner, PARTITION == 1 ? inner : outer, mine);
      }
#pragma omp barrier
    }
  }
}
