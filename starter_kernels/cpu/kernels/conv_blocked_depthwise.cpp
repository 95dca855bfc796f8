// Depthwise convolution on channel-blocked storage: 16 channels are the lanes, every tap is one FMA of a vector of x
// and a vector of weights, and the block's taps stay in registers (nine at 3x3) while a row goes by.
//
// Nothing is copied: taps above and below the input are left out of a whole row. In a row of up to 32 columns each has the taps that it has
// when the text is compiled; in longer ones the few columns whose window leaves the input on the left or right are done one by one. (Of 14
// columns these are two, and each is a chain of nine dependent FMAs, 36 cycles, where twelve columns together take 108.)
//
// PARTITION 0: threads share the rows of every block, as convolutions on either side share pixels; 1: blocks, as those share channels. What a core
// reads is then what it has written: a line from another core's cache takes 40 ns or more, and a block of 14 x 14 is 196 lines.

typedef float vec __attribute__((vector_size(4 * BLOCK), aligned(4), may_alias));

static_assert(C == G && C == O);
template <int VALUE>
struct Count {
  static constexpr int value = VALUE;
};

constexpr int64_t TAPS = KH * KW, P = OH * OW, BLOCKS = (C + BLOCK - 1) / BLOCK;
constexpr int64_t SPAN_W = (KW - 1) * DW + 1;
// Columns [LEFT, RIGHT) have all their taps inside.
constexpr int64_t LEFT = (PAD_W + SW - 1) / SW < OW ? (PAD_W + SW - 1) / SW : OW;
constexpr int64_t INSIDE = IW + PAD_W < SPAN_W ? 0 : (IW + PAD_W - SPAN_W) / SW + 1;
constexpr int64_t RIGHT = INSIDE < LEFT ? LEFT : (INSIDE < OW ? INSIDE : OW);

extern "C" size_t amdahl_workspace_bytes(void) { return 0; }
extern "C" size_t amdahl_packed_bytes(int input) { return input == 1 ? 4 * BLOCKS * TAPS * BLOCK : 0; }

// [block][tap][16]
extern "C" void amdahl_pack(int, const void* raw, void* packed) {
  const float* w = static_cast<const float*>(raw);
  float* to = static_cast<float*>(packed);
  for (int64_t b = 0; b < BLOCKS; ++b)
    for (int64_t tap = 0; tap < TAPS; ++tap)
      for (int64_t c = b * BLOCK; c < (b + 1) * BLOCK; ++c) *to++ = c < C ? w[c * TAPS + tap] : 0.0f;
}

// The rows of taps whose input row exists: nearly always all.
template <typename Row>
static inline __attribute__((always_inline)) void each_row(int64_t rows, Row row) {
  if (rows == KH) {
#pragma GCC unroll 11
    for (int64_t kh = 0; kh < KH; ++kh) row(kh);
  } else {
    for (int64_t kh = 0; kh < rows; ++kh) row(kh);
  }
}

template <int64_t PIXELS>
static inline __attribute__((always_inline)) void finish_pixels(const vec (&acc)[PIXELS], float* out, const void* const* in, int64_t image, int64_t b, int64_t p) {
#pragma GCC unroll 32
  for (int64_t i = 0; i < PIXELS; ++i) {
    float sums[BLOCK];
    *(vec*)sums = acc[i];
    finish_block(sums, out + i * BLOCK, in, image, b, p + i);
  }
}

// PIXELS columns from ow of one row. `rows` counts the taps kh from kh0 on whose input row exists; x points at the
// first of them. KWS: all KW taps across when EXACT, else [kw0, kw1).
template <int PIXELS, bool EXACT>
static inline __attribute__((always_inline)) void pixels(const float* x, const float* w, int64_t rows, int64_t kw0,
                                                         int64_t kw1, float* out, const void* const* in, int64_t image,
                                                         int64_t b, int64_t p) {
  vec acc[PIXELS] = {};
  const auto row = [&](int64_t kh) __attribute__((always_inline)) {
    const float *line = x + kh * DH * IW * BLOCK, *taps = w + kh * KW * BLOCK;
    if constexpr (EXACT) {
#pragma GCC unroll 11
      for (int64_t kw = 0; kw < KW; ++kw)
#pragma GCC unroll 32
        for (int i = 0; i < PIXELS; ++i)
          acc[i] += *(const vec*)(taps + kw * BLOCK) * *(const vec*)(line + (i * SW + kw * DW) * BLOCK);
    } else {
      for (int64_t kw = kw0; kw < kw1; ++kw)
        acc[0] += *(const vec*)(taps + kw * BLOCK) * *(const vec*)(line + kw * DW * BLOCK);
    }
  };
  each_row(rows, row);
  finish_pixels(acc, out, in, image, b, p);
}

// PIXELS columns from FIRST on of one row, whose taps are known; line: column 0 of the first input row there is.
template <int64_t FIRST, int64_t PIXELS>
static inline __attribute__((always_inline)) void known_pixels(const float* line, const float* w, int64_t rows, float* out,
                                                               const void* const* in, int64_t image, int64_t b, int64_t p) {
  vec acc[PIXELS] = {};
  const auto row = [&](int64_t kh) __attribute__((always_inline)) {
    const float *x = line + kh * DH * IW * BLOCK, *taps = w + kh * KW * BLOCK;
#pragma GCC unroll 11
    for (int64_t kw = 0; kw < KW; ++kw)
#pragma GCC unroll 32
      for (int64_t i = 0; i < PIXELS; ++i) {
        const int64_t iw = (FIRST + i) * SW - PAD_W + kw * DW;
        if (iw >= 0 && iw < IW) acc[i] += *(const vec*)(taps + kw * BLOCK) * *(const vec*)(x + iw * BLOCK);
      }
  };
  each_row(rows, row);
  finish_pixels(acc, out + FIRST * BLOCK, in, image, b, p + FIRST);
}

template <int64_t FIRST>
static inline __attribute__((always_inline)) void known_columns(const float* line, const float* w, int64_t rows, float* out,
                                                                const void* const* in, int64_t image, int64_t b, int64_t p) {
  if constexpr (FIRST < OW) {
    constexpr int64_t PIXELS = OW - FIRST < PX ? OW - FIRST : PX;
    known_pixels<FIRST, PIXELS>(line, w, rows, out, in, image, b, p);
    known_columns<FIRST + PIXELS>(line, w, rows, out, in, image, b, p);
  }
}

// One output row of a block; `out`: its plane.
static void output_row(const float* x, const float* w, float* out, const void* const* in, int64_t image, int64_t b,
                       int64_t oh) {
  const int64_t top = oh * SH - PAD_H;
  const int64_t kh0 = top < 0 ? (-top + DH - 1) / DH : 0;
  const int64_t reach = top < IH ? (IH - top + DH - 1) / DH : 0, kh1 = reach < KH ? reach : KH;
  const int64_t rows = kh1 > kh0 ? kh1 - kh0 : 0;
  const float* line = x + (top + kh0 * DH) * IW * BLOCK;
  const float* taps = w + kh0 * KW * BLOCK;
  float* to = out + oh * OW * BLOCK;
  if constexpr (OW <= 32) {
    known_columns<0>(line, taps, rows, to, in, image, b, oh * OW);
    return;
  }
  const auto edge = [&](int64_t ow) {
    const int64_t left = ow * SW - PAD_W;
    const int64_t kw0 = left < 0 ? (-left + DW - 1) / DW : 0;
    const int64_t width = left < IW ? (IW - left + DW - 1) / DW : 0;
    pixels<1, false>(line + left * BLOCK, taps, rows, kw0, width < KW ? width : KW, to + ow * BLOCK, in, image, b,
                     oh * OW + ow);
  };
  int64_t ow = 0;
  for (; ow < LEFT; ++ow) edge(ow);
  const auto run = [&](auto count) {
    constexpr int N_PX = decltype(count)::value;
    for (; ow + N_PX <= RIGHT; ow += N_PX)
      pixels<N_PX, true>(line + (ow * SW - PAD_W) * BLOCK, taps, rows, 0, KW, to + ow * BLOCK, in, image, b,
                         oh * OW + ow);
  };
  run(Count<PX>{});
  if constexpr (PX > 4) run(Count<4>{});
  run(Count<1>{});
  for (; ow < OW; ++ow) edge(ow);
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void*) {
  const float* w = static_cast<const float*>(in[1]);
  const auto row = [&](int64_t image, int64_t b, int64_t oh) {
    output_row(static_cast<const float*>(in[0]) + (image * BLOCKS + b) * IH * IW * BLOCK, w + b * TAPS * BLOCK,
               static_cast<float*>(out[0]) + (image * BLOCKS + b) * P * BLOCK, in, image, b, oh);
  };
#pragma omp parallel num_threads(THREADS)
  {
    const int64_t threads = omp_get_num_threads(), me = omp_get_thread_num();
    if constexpr (PARTITION == 1) {
      const int64_t end = N * BLOCKS * OH * (me + 1) / threads;
      for (int64_t task = N * BLOCKS * OH * me / threads; task < end; ++task) row(task / (BLOCKS * OH), task / OH % BLOCKS, task % OH);
    } else {
      for (int64_t plane = 0; plane < N * BLOCKS; ++plane)
        for (int64_t oh = OH * me / threads; oh < OH * (me + 1) / threads; ++oh) row(plane / BLOCKS, plane % BLOCKS, oh);
    }
  }
}
