// Convolution as a matrix product, out[o, p] = sum over k of w[o, k] * x[k, p], for every image and group. k runs over
// (channel, tap), p over output pixels. The im2col matrix is never stored: panels of KC x NR of it are packed as
// needed.
//
// Blocking (Goto): a packed panel B (KC x NR) stays in L1 while MR rows of w at a time stream past it; the KC columns
// of w stay in L2 over the PANELS panels of a block.

constexpr int64_t CG = C / G, OG = O / G, TAPS = KD * KH * KW, K = CG * TAPS, P = OD * OH * OW;
constexpr bool BY_CHANNELS = PARTITION == 1;
constexpr int64_t KB = KC < K ? KC : K;
constexpr int64_t O_TILES = (OG + MR - 1) / MR, P_VECS = (P + VLEN - 1) / VLEN;
// A 1x1 convolution without stride or padding reads x as it is: row k is channel k.
constexpr bool POINTWISE =
    TAPS == 1 && SD * SH * SW == 1 && PAD_D + PAD_H + PAD_W == 0 && ID == OD && IH == OH && IW == OW;
constexpr int64_t TOGETHER = POINTWISE ? N : images_together(C * CHANNEL);
constexpr int64_t PREPARED = POINTWISE ? 0 : TOGETHER * C * CHANNEL + VLEN;  // floats; a vector of slack for the last copy
constexpr int64_t PARTIAL = KB < K ? PANELS * O_TILES * MR * NR : 0;
constexpr int64_t PANEL = KB * NR + VLEN;
constexpr int64_t THREAD_FLOATS = (PANEL + PARTIAL + 31) / 16 * 16;

extern "C" size_t amdahl_workspace_bytes(void) { return 4 * ((PREPARED + 15) / 16 * 16 + THREADS * THREAD_FLOATS); }
extern "C" size_t amdahl_packed_bytes(int input) { return PACK_W && input == 1 ? 4 * G * O_TILES * K * MR : 0; }

// Tiles of MR output channels, k outermost: [group][tile][k][MR], the order in which the tile loop reads.
extern "C" void amdahl_pack(int, const void* raw, void* packed) {
  const float* w = static_cast<const float*>(raw);
  float* to = static_cast<float*>(packed);
  for (int64_t g = 0; g < G; ++g)
    for (int64_t tile = 0; tile < O_TILES; ++tile)
      for (int64_t k = 0; k < K; ++k)
        for (int64_t m = 0; m < MR; ++m) {
          const int64_t o = tile * MR + m;
          *to++ = o < OG ? w[(g * OG + o) * K + k] : 0.0f;
        }
}

struct Weights {
  const float* base;  // of this group
  // Element (tile, k, m) of the tile, without packing a row of w each m.
  const float* at(int64_t tile, int64_t k) const {
    return PACK_W ? base + (tile * K + k) * MR : base + tile * MR * K + k;
  }
  static constexpr int64_t STEP_K = PACK_W ? MR : 1, STEP_M = PACK_W ? 1 : K;
};

// Rows k0 … k0+kc of the im2col matrix at pixels p … p+n, to b[k][NR]. Copies whole vectors: a segment's overhang is
// overwritten by the next one, the last one's falls in the slack.
static void pack_panel(const float* x, float* b, int64_t k0, int64_t kc, int64_t p, int64_t n) {
  if constexpr (POINTWISE) {
    for (int64_t k = 0; k < kc; ++k) {
      const float* from = x + (k0 + k) * P + p;
      float* to = b + k * NR;
      if (n == NR) {
        for (int64_t j = 0; j < NR; j += VLEN) *(vec*)(to + j) = *(const vec*)(from + j);
      } else {
        for (int64_t j = 0; j < n; ++j) to[j] = from[j];
        for (int64_t j = n; j < NR; ++j) to[j] = 0;
      }
    }
  } else {
    // Pieces of output rows in this panel: where they start in a prepared plane and how long they are.
    int64_t start[NR], length[NR], pieces = 0;
    for (int64_t q = p; q < p + n;) {
      const int64_t ow = q % OW, oh = q / OW % OH, od = q / (OW * OH);
      const int64_t len = OW - ow < p + n - q ? OW - ow : p + n - q;
      start[pieces] = od * SD * PLANE + oh * WQ + ow;
      length[pieces++] = len;
      q += len;
    }
    for (int64_t k = 0; k < kc; ++k) {
      const int64_t c = (k0 + k) / TAPS, tap = (k0 + k) % TAPS;
      const float* plane = x + c * CHANNEL + tap_offset(tap / (KH * KW), tap / KW % KH, tap % KW);
      float* to = b + k * NR;
      for (int64_t piece = 0; piece < pieces; ++piece) {
        const float* from = plane + start[piece];
        const int64_t len = length[piece];
        for (int64_t j = 0; j < len; j += VLEN) *(vec*)(to + j) = *(const vec*)(from + j);
        to += len;
      }
      for (float* end = b + (k + 1) * NR; to < end;) *to++ = 0;
    }
  }
}

// Pixels p … of channels o … of an image, which lie side by side.
struct Pixels {
  float* out;
  const void* const* in;
  int64_t image, o, p;
  template <int COUNT>
  void whole(int m, const float* sums) const {
    float* to = out + m * P;
#pragma omp simd
    for (int64_t j = 0; j < COUNT; ++j) to[j] = finish(sums[j], in, image, o + m, p + j);
  }
  void part(int m, const float* sums, int64_t n) const {
    float* to = out + m * P;
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) to[j] = finish(sums[j], in, image, o + m, p + j);
  }
};

// Pixel vectors [v0, v1) and channel tiles [t0, t1) of one image and group.
static void block(const float* x, Weights w, float* out, int64_t v0, int64_t v1, int64_t t0, int64_t t1, float* scratch,
                  const void* const* in, int64_t image, int64_t group) {
  float* b = scratch;
  float* partials = scratch + PANEL;
  for (int64_t block0 = v0; block0 < v1; block0 += PANELS * NV)
    for (int64_t k0 = 0; k0 < K; k0 += KB) {
      const int64_t kc = K - k0 < KB ? K - k0 : KB;
      for (int64_t panel = 0; panel < PANELS; ++panel) {
        const int64_t v = block0 + panel * NV;
        if (v >= v1) break;
        const int64_t vecs = v1 - v < NV ? v1 - v : NV, p = v * VLEN;
        const int64_t n = P - p < vecs * VLEN ? P - p : vecs * VLEN;
        pack_panel(x, b, k0, kc, p, n);
        for (int64_t t = t0; t < t1; ++t) {
          float* partial = partials + (panel * O_TILES + t) * MR * NR;
          const int64_t o = group * OG + t * MR;
          const Pixels pixels{out + t * MR * P + p, in, image, o, p};
          if (OG % MR != 0 && t == O_TILES - 1)
            tile_of<Weights, OG % MR ? OG % MR : MR>(vecs, w.at(t, k0), b, kc, partial, k0 == 0, k0 + kc == K, n, pixels);
          else
            tile_of<Weights, MR>(vecs, w.at(t, k0), b, kc, partial, k0 == 0, k0 + kc == K, n, pixels);
        }
      }
    }
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void* workspace) {
  const float* x = static_cast<const float*>(in[0]);
  const float* w = static_cast<const float*>(in[1]);
  float* prepared = static_cast<float*>(workspace);
  float* scratches = prepared + (PREPARED + 15) / 16 * 16;
  constexpr int64_t WEIGHTS_OF_GROUP = PACK_W ? O_TILES * K * MR : OG * K;
  for (int64_t first = 0; first < N; first += TOGETHER) {
    const int64_t images = N - first < TOGETHER ? N - first : TOGETHER;
#pragma omp parallel num_threads(THREADS)
    {
      if constexpr (!POINTWISE) {
#pragma omp for collapse(2) schedule(static)
        for (int64_t plane = 0; plane < images * C; ++plane)
          for (int64_t d = 0; d < DP; ++d) prepare_plane(x + (first * C + plane) * ID * IH * IW, prepared + plane * CHANNEL + d * PLANE, d);
      }
      // Contiguous shares of pixel vectors (or of channel tiles) over all groups of all images.
      const int64_t threads = omp_get_num_threads(), me = omp_get_thread_num();
      constexpr int64_t UNIT = BY_CHANNELS ? O_TILES : P_VECS;
      const int64_t from = images * G * UNIT * me / threads, to = images * G * UNIT * (me + 1) / threads;
      for (int64_t n = from / UNIT; n * UNIT < to; ++n) {
        const int64_t a = from > n * UNIT ? from - n * UNIT : 0, z = to < (n + 1) * UNIT ? to - n * UNIT : UNIT;
        const int64_t image = first + n / G, g = n % G;
        const float* from_x = POINTWISE ? x + (image * C + g * CG) * P : prepared + (n / G * C + g * CG) * CHANNEL;
        block(from_x, Weights{w + g * WEIGHTS_OF_GROUP}, static_cast<float*>(out[0]) + (image * O + g * OG) * P,
              BY_CHANNELS ? 0 : a, BY_CHANNELS ? P_VECS : z, BY_CHANNELS ? a : 0, BY_CHANNELS ? z : O_TILES,
              scratches + me * THREAD_FLOATS, in, image, g);
      }
    }
  }
}
