// Convolution, one output element at a time: any rank, dtype, grouping and dilation, and its transpose. The form that
// is right before it is fast; f32 has others.
//
// Transposed, output position o collects input i where o + PAD = i * S + k * D, and w is [C, O/G, taps].

constexpr int64_t CG = C / G, OG = O / G;

extern "C" size_t amdahl_workspace_bytes(void) { return 0; }
extern "C" size_t amdahl_packed_bytes(int) { return 0; }
extern "C" void amdahl_pack(int, const void*, void*) {}

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

extern "C" void amdahl_run(const void* const* in, void* const* out, void*) {
#pragma omp parallel for collapse(2) num_threads(THREADS) schedule(static)
  for (int64_t n = 0; n < N; ++n)
    for (int64_t o = 0; o < O; ++o) {
      const int64_t g = o / OG;
      for (int64_t od = 0; od < OD; ++od)
        for (int64_t oh = 0; oh < OH; ++oh)
          for (int64_t ow = 0; ow < OW; ++ow) {
            ACC sum = 0;
            for (int64_t kd = 0; kd < KD; ++kd) {
              const int64_t d = source(od, kd, SD, DD, PAD_D, ID);
              if (d < 0) continue;
              for (int64_t kh = 0; kh < KH; ++kh) {
                const int64_t h = source(oh, kh, SH, DH, PAD_H, IH);
                if (h < 0) continue;
                for (int64_t kw = 0; kw < KW; ++kw) {
                  const int64_t i = source(ow, kw, SW, DW, PAD_W, IW);
                  if (i < 0) continue;
                  for (int64_t c = 0; c < CG; ++c)
                    sum += load_x(in, n, g * CG + c, d, h, i) *
                           (TRANSPOSED ? load_w(in, g * CG + c, o % OG, kd, kh, kw) : load_w(in, o, c, kd, kh, kw));
                }
              }
            }
            store_out(out, in, sum, n, o, od, oh, ow);
          }
    }
}
