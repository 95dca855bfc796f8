// Convolution into channel-blocked storage, [O/16][OH][OW][16]: 16 output channels are the lanes of a vector, so that
// rows of any width fill them, and a broadcast of one input element meets OCV vectors of weights.
//
// A tile is PX pixels of a row by OCV blocks of channels: 14 x 2 accumulators take 2 + 14 loads for 28 FMAs a step,
// which two load ports and two FMA ports do in 14 cycles. The input may be blocked too or row-major (the first layer's
// image). Weights are packed at load as [group of OCV blocks][block of input channels][tap][channel][OCV][16]: read in
// order. The register tile is cpu/blocked_tile.h.
//
// Where they lie, the pixels of a tile are a short run in each plane of channels and kernel row: three lines for 6 pixels of 8 channels, then a jump of 6
// to 100 KB. With GATHER > 0 a thread lays so many tiles side by side first, [tile][block of input channels][tap][pixel][16], as products of matrices
// pack A: read in order then, whatever the stride, and all pixels are one row, so that only the image's last tile is short. Padding becomes zeros there
// and nothing else is copied. What it brings: docs/lab/2026-11-26-pixels-side-by-side.md.

constexpr int64_t CG = C / G, OG = O / G, TAPS = KH * KW;
constexpr int64_t OB = (OG + BLOCK - 1) / BLOCK, CB = (CG + BLOCK - 1) / BLOCK;  // blocks of one group
constexpr int64_t SPAN_H = (KH - 1) * DH + 1, SPAN_W = (KW - 1) * DW + 1;
constexpr int64_t HP = (OH - 1) * SH + SPAN_H,
                  WP = (OW - 1) * SW + SPAN_W;                         // the part of the padded input that is read
constexpr bool GATHERED = GATHER > 0 && IN_BLOCKED;
constexpr bool PADDED = !GATHERED && (PAD_H > 0 || PAD_W > 0 || HP > IH || WP > IW);  // then a padded copy is made
constexpr bool FLAT = GATHERED || (TAPS == 1 && SH == 1 && SW == 1 && !PADDED);       // all rows are one row
constexpr int64_t ROWS = FLAT ? 1 : OH, COLUMNS = FLAT ? OH * OW : OW;
constexpr int64_t P = OH * OW;
// Distances in the (padded) input between channels of a block, columns, rows and blocks.
constexpr int64_t H_MEM = PADDED ? HP : IH, W_MEM = PADDED ? WP : IW;
constexpr int64_t X_C = IN_BLOCKED ? 1 : H_MEM * W_MEM, X_W = IN_BLOCKED ? BLOCK : 1, X_H = W_MEM * X_W;
constexpr int64_t X_B = BLOCK * H_MEM * W_MEM;
constexpr int64_t X_PLANES = IN_BLOCKED ? (C + BLOCK - 1) / BLOCK : C, X_PLANE = IN_BLOCKED ? X_B : H_MEM * W_MEM;
constexpr int64_t TILE_PX = PX < COLUMNS ? PX : COLUMNS, TAIL_PX = COLUMNS % TILE_PX;
constexpr int64_t TILE_OB = OCV < OB ? OCV : OB, TAIL_OB = OB % TILE_OB;
constexpr int64_t GROUPS_OF_BLOCKS = (OB + TILE_OB - 1) / TILE_OB, TILES = (COLUMNS + TILE_PX - 1) / TILE_PX;
constexpr int64_t WEIGHTS = OB * BLOCK * CG * TAPS;  // packed floats of one group of the convolution
constexpr bool HALF_LAST = OG % BLOCK > 0 && OG % BLOCK <= BLOCK / 2;
constexpr int64_t CHUNK = KCB < CB ? KCB : CB;
// Distances in what a tile reads between blocks, kernel rows, taps of a row and pixels.
constexpr int64_t TAP = TILE_PX * BLOCK;
constexpr int64_t T_B = GATHERED ? TAPS * TAP : X_B, T_H = GATHERED ? KW * TAP : DH * X_H, T_W = GATHERED ? TAP : DW * X_W, T_P = GATHERED ? BLOCK : SW * X_W;
constexpr int64_t SIDE_TILE = CHUNK * T_B, SIDE = GATHERED ? GATHER * SIDE_TILE : 0;  // floats of a tile laid side by side, and of a thread's
// While a group of weights is used tile by tile, the next one is fetched in equal parts: weights of several MiB come from DRAM
// at 12 GB/s a core, and a first tile that waits for them runs at a third of its speed. Bytes at each tap of a block of channels, into L2: the
// weights in use and the pixels fill L1.
constexpr int64_t UNITS = ROWS * TILES, UNITS_A_THREAD = PARTITION == 1 || UNITS < THREADS ? UNITS : UNITS / THREADS;
constexpr int64_t UNITS_EACH = GATHERED && GATHER < UNITS_A_THREAD ? GATHER : UNITS_A_THREAD;  // by which a group of weights passes at once
constexpr int64_t FETCH = PREFETCH && !WEIGHTS_INNER ? (4 * TILE_OB * BLOCK * BLOCK + UNITS_EACH - 1) / UNITS_EACH : 0;

extern "C" size_t amdahl_workspace_bytes(void) { return GATHERED ? 4 * THREADS * SIDE : PADDED ? 4 * X_PLANES * X_PLANE : 0; }
extern "C" size_t amdahl_packed_bytes(int input) { return input == 1 ? 4 * G * WEIGHTS : 0; }

static constexpr int64_t channels_of(int64_t cb) { return CG - cb * BLOCK < BLOCK ? CG - cb * BLOCK : BLOCK; }

extern "C" void amdahl_pack(int, const void* raw, void* packed) {
  const float* w = static_cast<const float*>(raw);
  float* to = static_cast<float*>(packed);
  for (int64_t g = 0; g < G; ++g)
    for (int64_t first = 0; first < OB; first += TILE_OB)
      for (int64_t cb = 0; cb < CB; ++cb)
        for (int64_t tap = 0; tap < TAPS; ++tap)
          for (int64_t c = cb * BLOCK; c < cb * BLOCK + channels_of(cb); ++c)
            for (int64_t o = first * BLOCK; o < (first + TILE_OB) * BLOCK && o < OB * BLOCK; ++o)
              *to++ = o < OG ? w[((g * OG + o) * CG + c) * TAPS + tap] : 0.0f;
}

// Row h of one plane of a padded copy: zero around the input's pixels.
static void pad_row(const float* from, float* to, int64_t h) {
  constexpr int64_t LINE = WP * X_W, LEFT = (PAD_W < WP ? PAD_W : WP) * X_W;
  constexpr int64_t INSIDE = (IW < WP - LEFT / X_W ? IW : WP - LEFT / X_W) * X_W;
  const int64_t ih = h - PAD_H;
  const bool inside = ih >= 0 && ih < IH;
  for (int64_t i = 0; i < (inside ? LEFT : LINE); ++i) to[i] = 0;
  if (!inside) return;
  for (int64_t i = 0; i < INSIDE; ++i) to[LEFT + i] = from[ih * IW * X_W + i];
  for (int64_t i = LEFT + INSIDE; i < LINE; ++i) to[i] = 0;
}

// Blocks [cb0, cb1) of tile `unit` side by side. x: the first plane of the convolution's group.
static void gather(const float* x, float* side, int64_t unit, int64_t cb0, int64_t cb1) {
  const int64_t first = unit * TILE_PX, pixels = COLUMNS - first < TILE_PX ? COLUMNS - first : TILE_PX;
  int64_t top[TILE_PX], left[TILE_PX], at[TILE_PX];
  bool inside = pixels == TILE_PX;
  for (int64_t i = 0; i < pixels; ++i) {
    top[i] = (first + i) / OW * SH - PAD_H, left[i] = (first + i) % OW * SW - PAD_W, at[i] = (top[i] * IW + left[i]) * BLOCK;
    inside &= top[i] >= 0 && left[i] >= 0 && top[i] + SPAN_H <= IH && left[i] + SPAN_W <= IW;
  }
  for (int64_t cb = cb0; cb < cb1; ++cb)
    for (int64_t kh = 0; kh < KH; ++kh)
      for (int64_t kw = 0; kw < KW; ++kw, side += TAP) {
        const float* tap = x + cb * BLOCK * IH * IW + (kh * DH * IW + kw * DW) * BLOCK;
        if (inside) {
#pragma GCC unroll 32
          for (int i = 0; i < TILE_PX; ++i) *(vec*)(side + i * BLOCK) = *(const vec*)(tap + at[i]);
        } else {
          for (int64_t i = 0; i < pixels; ++i) {
            const int64_t h = top[i] + kh * DH, w = left[i] + kw * DW;
            *(vec*)(side + i * BLOCK) = h >= 0 && h < IH && w >= 0 && w < IW ? *(const vec*)(tap + at[i]) : vec{};
          }
        }
      }
}

// V blocks of output channels from ob, PIXELS pixels from p; input blocks [cb0, cb1). Sums of earlier blocks are in
// out.
template <int V, bool HALF, int PIXELS>
static void tile(const float* x, const float* w, const char* next, int64_t cb0, int64_t cb1, float* out, const void* const* in,
                 int64_t image, int64_t ob, int64_t p) {
  constexpr int FULL = HALF ? V - 1 : V;
  vec acc[V][PIXELS];
  half last[PIXELS];
#pragma GCC unroll 32
  for (int i = 0; i < PIXELS; ++i) {
#pragma GCC unroll 8
    for (int v = 0; v < FULL; ++v) acc[v][i] = CHUNK < CB && cb0 > 0 ? *(const vec*)(out + (v * P + i) * BLOCK) : vec{};
    if constexpr (HALF) last[i] = CHUNK < CB && cb0 > 0 ? *(const half*)(out + (FULL * P + i) * BLOCK) : half{};
  }
  w += cb0 * BLOCK * TAPS * V * BLOCK;
  for (int64_t cb = cb0; cb < cb1; ++cb)
    for (int64_t kh = 0; kh < KH; ++kh)
      for (int64_t kw = 0; kw < KW; ++kw) {
        const float* tap = x + (GATHERED ? cb - cb0 : cb) * T_B + kh * T_H + kw * T_W;
#pragma GCC unroll 64
        for (int64_t byte = 0; byte < FETCH; byte += 64) __builtin_prefetch(next + byte, 0, 2);
        next += FETCH;
        if (CG % BLOCK != 0 && cb == CB - 1)
          add_channels<V, HALF, PIXELS, CG % BLOCK ? CG % BLOCK : BLOCK, X_C, T_P>(tap, w, acc, last);
        else
          add_channels<V, HALF, PIXELS, BLOCK, X_C, T_P>(tap, w, acc, last);
      }
  if (CHUNK < CB && cb1 < CB) {
#pragma GCC unroll 32
    for (int i = 0; i < PIXELS; ++i) {
#pragma GCC unroll 8
      for (int v = 0; v < FULL; ++v) *(vec*)(out + (v * P + i) * BLOCK) = acc[v][i];
      if constexpr (HALF) *(half*)(out + (FULL * P + i) * BLOCK) = last[i];
    }
    return;
  }
#pragma GCC unroll 8
  for (int v = 0; v < V; ++v)
#pragma GCC unroll 32
    for (int i = 0; i < PIXELS; ++i) {
      float sums[BLOCK] = {};
      if (v < FULL)
        *(vec*)sums = acc[v][i];
      else
        *(half*)sums = last[i];
      finish_block(sums, out + (v * P + i) * BLOCK, in, image, ob + v, p + i);
    }
}

template <int V, bool HALF>
static void tile_at(const float* x, const float* w, const char* next, int64_t cb0, int64_t cb1, float* out, const void* const* in,
                    int64_t image, int64_t g, int64_t first, int64_t unit) {
  const int64_t row = unit / TILES, column = unit % TILES * TILE_PX, p = row * OW + column, ob = g * OB + first;
  const float* from = GATHERED ? x : x + g * CB * X_B + row * SH * X_H + column * SW * X_W;
  float* to = out + (ob * P + p) * BLOCK;
  if (TAIL_PX != 0 && column + TILE_PX > COLUMNS)
    tile<V, HALF, TAIL_PX ? TAIL_PX : 1>(from, w, next, cb0, cb1, to, in, image, ob, p);
  else
    tile<V, HALF, TILE_PX>(from, w, next, cb0, cb1, to, in, image, ob, p);
}

// Units (tiles of pixels) [u0, u1) by groups of blocks [b0, b1) of the convolution's group g. side: the thread's own.
static void region(const float* x, float* side, const float* w, float* out, const void* const* in, int64_t image, int64_t g,
                   int64_t u0, int64_t u1, int64_t b0, int64_t b1) {
  const int64_t together = GATHERED ? GATHER : u1 - u0;
  for (int64_t a = u0; a < u1; a += together) {
    const int64_t z = a + together < u1 ? a + together : u1;
    const auto one = [&](int64_t b, int64_t u, int64_t cb0, int64_t cb1) {
      constexpr int64_t GROUP = TILE_OB * BLOCK * CG * TAPS;
      const float *weights = w + g * WEIGHTS + b * GROUP, *from = GATHERED ? side + (u - a) * SIDE_TILE : x;
      const char* next = (const char*)(weights + GROUP + cb0 * BLOCK * TAPS * TILE_OB * BLOCK) + (u - a) * (cb1 - cb0) * TAPS * FETCH;
      if ((TAIL_OB != 0 || HALF_LAST) && b == GROUPS_OF_BLOCKS - 1)
        tile_at<TAIL_OB ? TAIL_OB : TILE_OB, HALF_LAST>(from, weights, next, cb0, cb1, out, in, image, g, b * TILE_OB, u);
      else
        tile_at<TILE_OB, false>(from, weights, next, cb0, cb1, out, in, image, g, b * TILE_OB, u);
    };
    for (int64_t cb0 = 0; cb0 < CB; cb0 += CHUNK) {
      const int64_t cb1 = cb0 + CHUNK < CB ? cb0 + CHUNK : CB;
      if constexpr (GATHERED)
        for (int64_t u = a; u < z; ++u) gather(x + g * CB * X_B, side + (u - a) * SIDE_TILE, u, cb0, cb1);
      if constexpr (WEIGHTS_INNER) {  // the pixels stay in L1, weights come by
        for (int64_t u = a; u < z; ++u)
          for (int64_t b = b0; b < b1; ++b) one(b, u, cb0, cb1);
      } else {
        for (int64_t b = b0; b < b1; ++b)
          for (int64_t u = a; u < z; ++u) one(b, u, cb0, cb1);
      }
    }
  }
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void* workspace) {
  constexpr int64_t IN_IMAGE = X_PLANES * IH * IW * X_W, OUT_IMAGE = G * OB * P * BLOCK;
  const float* w = static_cast<const float*>(in[1]);
  for (int64_t image = 0; image < N; ++image) {
    const float* x = static_cast<const float*>(in[0]) + image * IN_IMAGE;
    float* to = static_cast<float*>(out[0]) + image * OUT_IMAGE;
#pragma omp parallel num_threads(THREADS)
    {
      const int64_t threads = omp_get_num_threads(), me = omp_get_thread_num();
      float* side = static_cast<float*>(workspace) + me * SIDE;
      const float* from = x;
      if constexpr (PADDED) {
        float* copy = static_cast<float*>(workspace);
#pragma omp for schedule(static)
        for (int64_t row = 0; row < X_PLANES * HP; ++row)
          pad_row(x + row / HP * IH * IW * X_W, copy + row / HP * X_PLANE + row % HP * WP * X_W, row % HP);
        from = copy;
      }
      constexpr int64_t SHARED = PARTITION == 1 ? GROUPS_OF_BLOCKS : UNITS;
      const int64_t begin = G * SHARED * me / threads, end = G * SHARED * (me + 1) / threads;
      for (int64_t g = begin / SHARED; g * SHARED < end; ++g) {
        const int64_t a = begin > g * SHARED ? begin - g * SHARED : 0,
                      z = end < (g + 1) * SHARED ? end - g * SHARED : SHARED;
        if constexpr (PARTITION == 1)
          region(from, side, w, to, in, image, g, 0, UNITS, a, z);
        else
          region(from, side, w, to, in, image, g, a, z, 0, GROUPS_OF_BLOCKS);
      }
    }
  }
}
