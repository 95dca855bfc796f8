// Pooling on channel-blocked storage, [N][C/16][H][W][16]: 16 channels are the lanes, every tap is one vector. A global
// result may leave row-major, [N][C].

typedef float vec __attribute__((vector_size(4 * BLOCK), aligned(4), may_alias));
constexpr int64_t BLOCKS = (C + BLOCK - 1) / BLOCK;
static_assert(ID == 1 && OD == 1);

extern "C" size_t amdahl_workspace_bytes(void) { return 0; }
extern "C" size_t amdahl_packed_bytes(int) { return 0; }
extern "C" void amdahl_pack(int, const void*, void*) {}

static inline vec join(vec a, vec b) {
  if constexpr (IS_MAX)
    return (a > b) | (a != a) ? a : b;  // NaN stays
  else
    return a + b;
}

// Taps [first, end) of a window starting at `at` lie in [0, size).
struct Taps {
  int64_t first, end;
};
static inline Taps taps_inside(int64_t at, int64_t kernel, int64_t dilation, int64_t size) {
  const int64_t first = at < 0 ? (-at + dilation - 1) / dilation : 0;
  const int64_t end = at >= size ? 0 : (size - at + dilation - 1) / dilation;
  return {first, end < kernel ? end : kernel};
}

// What an average divides by along one dimension.
static inline int64_t counted(int64_t at, int64_t kernel, int64_t dilation, int64_t size, int64_t pad_end,
                              Taps inside) {
  if constexpr (COUNT_PAD)
    return taps_inside(at, kernel, dilation, size + pad_end).end;
  else
    return inside.end > inside.first ? inside.end - inside.first : 0;
}

static void window_row(const float* x, float* out, int64_t oh) {
  const int64_t ih = oh * SH - PAD_H;
  const Taps kh = taps_inside(ih, KH, DH, IH);
  const int64_t rows = counted(ih, KH, DH, IH, PAD_END_H, kh);
  for (int64_t ow = 0; ow < OW; ++ow) {
    const int64_t iw = ow * SW - PAD_W;
    const Taps kw = taps_inside(iw, KW, DW, IW);
    vec sum = vec{} + EMPTY;
    for (int64_t h = kh.first; h < kh.end; ++h)
      for (int64_t w = kw.first; w < kw.end; ++w)
        sum = join(sum, *(const vec*)(x + ((ih + h * DH) * IW + iw + w * DW) * BLOCK));
    if constexpr (!IS_MAX) sum /= (float)(rows * counted(iw, KW, DW, IW, PAD_END_W, kw));
    *(vec*)(out + (oh * OW + ow) * BLOCK) = sum;
  }
}

// Rows first: of 12,544 pixels no addition is of a sum of more than 112 terms to another one, or errors grow with the pixels.
static vec whole_plane(const float* x) {
  vec all = vec{} + EMPTY;
  for (int64_t h = 0; h < IH; ++h, x += IW * BLOCK) {
    vec sums[4];  // breaks the chain of dependent additions
    for (vec& sum : sums) sum = vec{} + EMPTY;
    int64_t w = 0;
    for (; w + 4 <= IW; w += 4)
      for (int64_t j = 0; j < 4; ++j) sums[j] = join(sums[j], *(const vec*)(x + (w + j) * BLOCK));
    for (; w < IW; ++w) sums[0] = join(sums[0], *(const vec*)(x + w * BLOCK));
    all = join(all, join(join(sums[0], sums[1]), join(sums[2], sums[3])));
  }
  if constexpr (IS_MAX)
    return all;
  else
    return all / (float)(IH * IW);
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void*) {
  constexpr int64_t ROWS = GLOBAL ? 1 : OH;
#pragma omp parallel for num_threads(THREADS) schedule(static)
  for (int64_t task = 0; task < N * BLOCKS * ROWS; ++task) {
    const int64_t image = task / (BLOCKS * ROWS), b = task / ROWS % BLOCKS;
    const float* x = static_cast<const float*>(in[0]) + (image * BLOCKS + b) * IH * IW * BLOCK;
    float* to = static_cast<float*>(out[0]);
    if constexpr (!GLOBAL) {
      window_row(x, to + (image * BLOCKS + b) * OH * OW * BLOCK, task % ROWS);
    } else {
      const vec all = whole_plane(x);
      const int64_t real = OUT_BLOCKED || C - b * BLOCK > BLOCK ? BLOCK : C - b * BLOCK;
      to += OUT_BLOCKED ? (image * BLOCKS + b) * BLOCK : image * C + b * BLOCK;
      for (int64_t j = 0; j < real; ++j) to[j] = all[j];
    }
  }
}
