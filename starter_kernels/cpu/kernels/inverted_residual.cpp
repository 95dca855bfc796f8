// MobileNetV2's block (Sandler et al., 2018): a 1x1 convolution that widens the channels, a depthwise one, a 1x1 one that narrows them, on channel
// blocks, one row of the result after another. What lies between never leaves the core's L2: of the wide image KH rows, a ring in which the next row
// takes the place of the oldest, and one row after the depthwise convolution. Apart, both wide images of 56 x 56 x 144 are written and read,
// 7.2 MB where the block's input and result have 0.6.
//
// Threads share rows of the result. Each widens all rows that its windows span, so KH - SH rows at a border are made twice; nobody waits for another.
// The ring's rows have the padding in them: columns of zeros on both sides, and a whole row where the window leaves the image.
//
// The prelude states THREADS, the knobs, and of each convolution its sizes and finish_block() in a namespace of its own; `in` of these is as if the
// convolution stood alone, its extra operands from in[2] on.

constexpr int64_t IH = depthwise::IH, IW = depthwise::IW, OH = depthwise::OH, OW = depthwise::OW;
constexpr int64_t KH = depthwise::KH, KW = depthwise::KW, SH = depthwise::SH, SW = depthwise::SW;
constexpr int64_t LEFT = depthwise::PAD_W, ROW = max_of(LEFT + IW, (OW - 1) * SW + KW);  // columns of a padded row
constexpr int64_t WIDE = depthwise::C, WIDE_BLOCKS = ceil_div(WIDE, BLOCK), IN_BLOCKS = ceil_div(expand::C, BLOCK), OUT_BLOCKS = ceil_div(project::O, BLOCK);
// The ring: [row][block][column][BLOCK]. Then a row after the depthwise convolution: [block][column][BLOCK].
constexpr int64_t RING_ROW = WIDE_BLOCKS * ROW * BLOCK, DEEP_ROW = WIDE_BLOCKS * OW * BLOCK, ROOM = ceil_div(KH * RING_ROW + DEEP_ROW, 16) * 16;
static_assert(expand::O == WIDE && project::C == WIDE && depthwise::DH == 1 && depthwise::DW == 1);

extern "C" size_t amdahl_workspace_bytes(void) { return 4 * THREADS * ROOM; }

extern "C" size_t amdahl_packed_bytes(int input) {
  if (input == 1) return 4 * WIDE_BLOCKS * BLOCK * expand::C;
  if (input == 2) return 4 * WIDE_BLOCKS * BLOCK * KH * KW;
  return input == 3 ? 4 * OUT_BLOCKS * BLOCK * WIDE : 0;
}

// Weights [out][in] as [group of at most `group` blocks][in][blocks of the group][BLOCK].
static void pack_product(const float* w, int64_t channels, int64_t outputs, int64_t group, float* to) {
  const int64_t blocks = ceil_div(outputs, BLOCK);
  for (int64_t b = 0; b < blocks; b += group)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t o = b * BLOCK; o < min_of(b + group, blocks) * BLOCK; ++o) *to++ = o < outputs ? w[o * channels + c] : 0.0f;
}

extern "C" void amdahl_pack(int input, const void* raw, void* packed) {
  const float* w = static_cast<const float*>(raw);
  float* to = static_cast<float*>(packed);
  if (input == 1) pack_product(w, expand::C, WIDE, min_of(EXPAND_OCV, WIDE_BLOCKS), to);
  if (input == 3) pack_product(w, WIDE, project::O, min_of(PROJECT_OCV, OUT_BLOCKS), to);
  if (input != 2) return;
  for (int64_t b = 0; b < WIDE_BLOCKS; ++b)  // [block][tap][BLOCK]
    for (int64_t tap = 0; tap < KH * KW; ++tap)
      for (int64_t c = b * BLOCK; c < (b + 1) * BLOCK; ++c) *to++ = c < WIDE ? w[c * KH * KW + tap] : 0.0f;
}

// PIXELS pixels by V blocks of a 1x1 convolution of CHANNELS; x: the first pixel, X_BLOCK from one block of channels to the next.
template <int64_t CHANNELS, int64_t X_BLOCK, int V, bool HALF, int PIXELS, class Finish>
static inline __attribute__((always_inline)) void product_tile(const float* x, const float* w, Finish finish) {
  constexpr int FULL = HALF ? V - 1 : V;
  constexpr int64_t LEFT_OVER = CHANNELS % BLOCK;
  vec acc[V][PIXELS] = {};
  half last[PIXELS] = {};
  for (int64_t c = 0; c + BLOCK <= CHANNELS; c += BLOCK, x += X_BLOCK) add_channels<V, HALF, PIXELS, BLOCK, 1, BLOCK>(x, w, acc, last);
  if constexpr (LEFT_OVER > 0) add_channels<V, HALF, PIXELS, LEFT_OVER, 1, BLOCK>(x, w, acc, last);
#pragma GCC unroll 8
  for (int v = 0; v < V; ++v)
#pragma GCC unroll 32
    for (int i = 0; i < PIXELS; ++i) {
      float sums[BLOCK] = {};
      if (v < FULL) *(vec*)sums = acc[v][i];
      else *(half*)sums = last[i];
      finish(sums, v, i);
    }
}

// A row of COLUMNS pixels of a 1x1 convolution: finish(sums, block, pixel) takes a block's sums of a pixel. All weights pass by a tile of pixels, which
// stays in L1, before the next one.
template <int64_t CHANNELS, int64_t OUTPUTS, int64_t COLUMNS, int64_t X_BLOCK, int64_t PX, int64_t OCV, class Finish>
static inline __attribute__((always_inline)) void multiply_row(const float* x, const float* w, Finish finish) {
  constexpr int64_t BLOCKS = ceil_div(OUTPUTS, BLOCK), TILE_OB = min_of(OCV, BLOCKS), TAIL_OB = BLOCKS % TILE_OB;
  constexpr int64_t TILE_PX = min_of(PX, COLUMNS), TAIL_PX = COLUMNS % TILE_PX, REST = OUTPUTS % BLOCK;
  constexpr bool HALF_LAST = REST > 0 && REST <= BLOCK / 2;
  for (int64_t p = 0; p < COLUMNS; p += TILE_PX)
    for (int64_t b = 0; b < BLOCKS; b += TILE_OB) {
      const float *from = x + p * BLOCK, *weights = w + b * BLOCK * CHANNELS;
      const auto put = [&](const float* sums, int64_t v, int64_t i) __attribute__((always_inline)) { finish(sums, b + v, p + i); };
      const bool last = (TAIL_OB != 0 || HALF_LAST) && b + TILE_OB >= BLOCKS, tail = TAIL_PX != 0 && p + TILE_PX > COLUMNS;
      constexpr int LAST = TAIL_OB ? TAIL_OB : TILE_OB, TAIL = TAIL_PX ? TAIL_PX : 1;
      if (last && tail) product_tile<CHANNELS, X_BLOCK, LAST, HALF_LAST, TAIL>(from, weights, put);
      else if (last) product_tile<CHANNELS, X_BLOCK, LAST, HALF_LAST, TILE_PX>(from, weights, put);
      else if (tail) product_tile<CHANNELS, X_BLOCK, TILE_OB, false, TAIL>(from, weights, put);
      else product_tile<CHANNELS, X_BLOCK, TILE_OB, false, TILE_PX>(from, weights, put);
    }
}

// Of each convolution its operands, in[0] and in[1] left out.
struct Operands {
  const void *expand[2 + EXPAND_EXTRAS], *depthwise[2 + DEPTHWISE_EXTRAS], *project[2 + PROJECT_EXTRAS];
  explicit Operands(const void* const* in) {
    in += 4;
    for (int i = 0; i < EXPAND_EXTRAS; ++i) expand[2 + i] = *in++;
    for (int i = 0; i < DEPTHWISE_EXTRAS; ++i) depthwise[2 + i] = *in++;
    for (int i = 0; i < PROJECT_EXTRAS; ++i) project[2 + i] = *in++;
  }
};

// Row `padded` of the padded wide image, to the columns of `to` that are not padding.
static void widen_row(const float* x, const float* w, const Operands& operands, int64_t image, int64_t padded, float* to) {
  const int64_t h = padded - depthwise::PAD_H;
  if (h < 0 || h >= IH) {
    for (int64_t i = 0; i < RING_ROW; ++i) to[i] = 0;
    return;
  }
  multiply_row<expand::C, WIDE, IW, IH * IW * BLOCK, EXPAND_PX, EXPAND_OCV>(
      x + h * IW * BLOCK, w, [&](const float* sums, int64_t b, int64_t p) __attribute__((always_inline)) {
        expand::finish_block(sums, to + (b * ROW + LEFT + p) * BLOCK, operands.expand, image, b, h * IW + p);
      });
}

// PIXELS columns of one block after the depthwise convolution; rows: of the ring, from the tap of the first column on.
template <int PIXELS>
static inline __attribute__((always_inline)) void depthwise_pixels(const float* const (&rows)[KH], int64_t column, const float* w, const Operands& operands,
                                                                   int64_t image, int64_t b, int64_t p, float* to) {
  vec acc[PIXELS] = {};
#pragma GCC unroll 11
  for (int64_t kh = 0; kh < KH; ++kh)
#pragma GCC unroll 11
    for (int64_t kw = 0; kw < KW; ++kw)
#pragma GCC unroll 32
      for (int i = 0; i < PIXELS; ++i)
        acc[i] += *(const vec*)(w + (kh * KW + kw) * BLOCK) * *(const vec*)(rows[kh] + ((column + i) * SW + kw) * BLOCK);
#pragma GCC unroll 32
  for (int i = 0; i < PIXELS; ++i) {
    float sums[BLOCK];
    *(vec*)sums = acc[i];
    depthwise::finish_block(sums, to + (column + i) * BLOCK, operands.depthwise, image, b, p + column + i);
  }
}

static void depthwise_row(const float* ring, const float* w, const Operands& operands, int64_t image, int64_t oh, float* deep) {
  constexpr int64_t TILE_PX = min_of(DEPTHWISE_PX, OW), TAIL_PX = OW % TILE_PX;
  for (int64_t b = 0; b < WIDE_BLOCKS; ++b) {
    const float* rows[KH];
    for (int64_t kh = 0; kh < KH; ++kh) rows[kh] = ring + (oh * SH + kh) % KH * RING_ROW + b * ROW * BLOCK;
    const float* taps = w + b * KH * KW * BLOCK;
    float* to = deep + b * OW * BLOCK;
    int64_t column = 0;
    for (; column + TILE_PX <= OW; column += TILE_PX) depthwise_pixels<TILE_PX>(rows, column, taps, operands, image, b, oh * OW, to);
    if constexpr (TAIL_PX > 0) depthwise_pixels<TAIL_PX>(rows, column, taps, operands, image, b, oh * OW, to);
  }
}

static void narrow_row(const float* deep, const float* w, const Operands& operands, int64_t image, int64_t oh, float* out) {
  multiply_row<WIDE, project::O, OW, OW * BLOCK, PROJECT_PX, PROJECT_OCV>(
      deep, w, [&](const float* sums, int64_t b, int64_t p) __attribute__((always_inline)) {
        project::finish_block(sums, out + (b * OH * OW + oh * OW + p) * BLOCK, operands.project, image, b, oh * OW + p);
      });
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void* workspace) {
  const Operands operands(in);
  const float *expand_w = static_cast<const float*>(in[1]), *depthwise_w = static_cast<const float*>(in[2]), *project_w = static_cast<const float*>(in[3]);
#pragma omp parallel num_threads(THREADS)
  {
    const int64_t threads = omp_get_num_threads(), me = omp_get_thread_num();
    float *ring = static_cast<float*>(workspace) + me * ROOM, *deep = ring + KH * RING_ROW;
    for (int64_t row = 0; row < KH * WIDE_BLOCKS; ++row) {  // the padding on both sides
      float* columns = ring + row * ROW * BLOCK;
      for (int64_t i = 0; i < LEFT * BLOCK; ++i) columns[i] = 0;
      for (int64_t i = (LEFT + IW) * BLOCK; i < ROW * BLOCK; ++i) columns[i] = 0;
    }
    for (int64_t image = 0; image < depthwise::N; ++image) {
      const float* x = static_cast<const float*>(in[0]) + image * IN_BLOCKS * IH * IW * BLOCK;
      float* y = static_cast<float*>(out[0]) + image * OUT_BLOCKS * OH * OW * BLOCK;
      int64_t widened = 0;  // padded rows before this one are in the ring, or were
      for (int64_t oh = OH * me / threads; oh < OH * (me + 1) / threads; ++oh) {
        for (widened = max_of(widened, oh * SH); widened < oh * SH + KH; ++widened)
          widen_row(x, expand_w, operands, image, widened, ring + widened % KH * RING_ROW);
        depthwise_row(ring, depthwise_w, operands, image, oh, deep);
        narrow_row(deep, project_w, operands, image, oh, y);
      }
    }
  }
}
