// Convolution whose output channels each read one input channel. Row-major operands.
//
// A block has BLOCK_M planes of the output x BLOCK_N * TN of their positions; a thread has TN positions of one plane, BLOCK_N apart, and the plane's
// weights in registers where they are few.

enum : int64_t { IN_PIXELS = ID * IH * IW, PIXELS = OD * OH * OW, PLANES = N * O };
enum : int { THREADS = BLOCK_M * BLOCK_N, TILE_P = BLOCK_N * TN, TAPS = KD * KH * KW, HELD = TAPS <= 64 ? TAPS : 1 };
enum : int64_t { TILES_P = PIXELS > 0 ? (PIXELS + TILE_P - 1) / TILE_P : 1, BLOCKS = TILES_P * (PLANES > 0 ? (PLANES + BLOCK_M - 1) / BLOCK_M : 1) };

static inline void convolve(const void* const* in, out_t* out, sum_t*) {
  const int64_t plane = blockIdx.x / TILES_P * BLOCK_M + threadIdx.x / BLOCK_N;
  if (plane >= PLANES) return;
  const int64_t n = plane / O, o = plane % O;
  const x_t* x = (const x_t*)in[0] + (n * C + o / (O / G)) * IN_PIXELS;
  const w_t* w = (const w_t*)in[1] + o * TAPS;
  sum_t held[HELD];
#pragma unroll
  for (int tap = 0; tap < HELD; ++tap) held[tap] = load_w(w[tap]);
#pragma unroll
  for (int j = 0; j < TN; ++j) {
    const int64_t p = blockIdx.x % TILES_P * TILE_P + threadIdx.x % BLOCK_N + j * int(BLOCK_N);
    if (p >= PIXELS) continue;
    const int pixel = int(p), d = pixel / int(OH * OW) * int(SD) - int(PAD_D);
    const int h = pixel / int(OW) % int(OH) * int(SH) - int(PAD_H), w0 = pixel % int(OW) * int(SW) - int(PAD_W);
    sum_t sum = 0;
#pragma unroll HELD
    for (int tap = 0; tap < TAPS; ++tap) {
      const int id = d + tap / int(KH * KW) * int(DD), ih = h + tap / int(KW) % int(KH) * int(DH), iw = w0 + tap % int(KW) * int(DW);
      const bool inside = unsigned(id) < unsigned(ID) && unsigned(ih) < unsigned(IH) && unsigned(iw) < unsigned(IW);
      const sum_t weight = HELD == TAPS ? held[HELD == TAPS ? tap : 0] : load_w(w[tap]);
      if (inside) sum += load_x(x[index_t(id * int(IH) + ih) * index_t(IW) + iw]) * weight;
    }
    out[plane * PIXELS + p] = finish(sum, in, n, o, p);
  }
}
