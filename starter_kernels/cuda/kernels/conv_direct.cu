// Convolution, one output element a thread: any rank, type, strides, grouping and dilation, and its transpose. Neighbouring threads have neighbouring
// positions.
//
// Transposed, output position o collects input i where o + PAD = i * S + k * D, and w is [C, O/G, taps].

enum : int64_t { CG = C / G, OG = O / G, POINTS = N * O * OD * OH * OW };
enum : int { THREADS = BLOCK_M * BLOCK_N };
enum : int64_t { BLOCKS = POINTS > 0 ? (POINTS + THREADS - 1) / THREADS : 1 };

// The input position that tap k of output position o reads, or -1.
static inline int64_t source(int64_t o, int64_t k, int64_t stride, int64_t dilation, int64_t pad, int64_t size) {
  if constexpr (TRANSPOSED) {
    const int64_t at = o + pad - k * dilation;
    return at < 0 || at % stride != 0 || at / stride >= size ? -1 : at / stride;
  } else {
    const int64_t at = o * stride + k * dilation - pad;
    return at < 0 || at >= size ? -1 : at;
  }
}

static inline void convolve(const void* const* in, out_t* out, sum_t*) {
  const int64_t point = blockIdx.x * int64_t(THREADS) + threadIdx.x;
  if (point >= POINTS) return;
  const int64_t p = point % (OD * OH * OW), plane = point / (OD * OH * OW);
  const int64_t n = plane / O, o = plane % O, g = o / OG, od = p / (OH * OW), oh = p / OW % OH, ow = p % OW;
  sum_t sum = 0;
  for (int64_t kd = 0; kd < KD; ++kd) {
    const int64_t d = source(od, kd, SD, DD, PAD_D, ID);
    if (d < 0) continue;
    for (int64_t kh = 0; kh < KH; ++kh) {
      const int64_t h = source(oh, kh, SH, DH, PAD_H, IH);
      if (h < 0) continue;
      for (int64_t kw = 0; kw < KW; ++kw) {
        const int64_t w = source(ow, kw, SW, DW, PAD_W, IW);
        if (w < 0) continue;
        for (int64_t c = 0; c < CG; ++c)
          sum += load_x(in, n, g * CG + c, d, h, w) * (TRANSPOSED ? load_w(in, g * CG + c, o % OG, kd, kh, kw) : load_w(in, o, c, kd, kh, kw));
      }
    }
  }
  out[point] = finish(sum, in, n, o, p);
}
