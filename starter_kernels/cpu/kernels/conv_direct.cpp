// Direct convolution on row-major operands: the im2col matrix is neither stored nor packed. In a prepared plane
// (conv_prepare.h) a tap of the flat pixels oh * WQ + ow is one contiguous run, so vectors of pixels are loaded where
// they lie; the WQ - OW columns between rows are computed and not stored. Against im2col this saves the packing and
// costs the idle columns and loads that straddle cache lines.

typedef float vec __attribute__((vector_size(4 * VLEN), aligned(4), may_alias));

constexpr int64_t CG = C / G, OG = O / G, TAPS = KD * KH * KW, K = CG * TAPS, P = OD * OH * OW;
constexpr bool BY_CHANNELS = PARTITION == 1;
constexpr int64_t NR = NV * VLEN, O_TILES = (OG + MR - 1) / MR;
constexpr int64_t FLAT = (OH - 1) * WQ + OW, FLAT_VECS = (FLAT + VLEN - 1) / VLEN;  // of one output plane
constexpr int64_t PREPARED = (C * CHANNEL + NR + 15) / 16 * 16;  // the last panel reads past its plane

extern "C" size_t amdahl_workspace_bytes(void) { return 4 * PREPARED; }
extern "C" size_t amdahl_packed_bytes(int input) { return PACK_W && input == 1 ? 4 * G * O_TILES * K * MR : 0; }

// [group][tile of MR output channels][k][MR]
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

// ROWS output channels at VECS vectors of flat pixels from p on, in output plane od.
template <int ROWS, int VECS>
static void tile(const float* x, const float* w, float* out, const void* const* in, int64_t image, int64_t o,
                 int64_t od, int64_t p) {
  constexpr int64_t STEP_K = PACK_W ? MR : 1, STEP_M = PACK_W ? 1 : K;
  vec acc[ROWS][VECS] = {};
  for (int64_t c = 0; c < CG; ++c)
    for (int64_t kd = 0; kd < KD; ++kd)
      for (int64_t kh = 0; kh < KH; ++kh)
        for (int64_t kw = 0; kw < KW; ++kw) {
          const float* from = x + c * CHANNEL + tap_offset(kd, kh, kw) + p;
          vec row[VECS];
#pragma GCC unroll 8
          for (int v = 0; v < VECS; ++v) row[v] = *(const vec*)(from + v * VLEN);
          if constexpr (PREFETCH > 0) __builtin_prefetch(w + PREFETCH * STEP_K);
#pragma GCC unroll 16
          for (int m = 0; m < ROWS; ++m)
#pragma GCC unroll 8
            for (int v = 0; v < VECS; ++v) acc[m][v] += w[m * STEP_M] * row[v];
          w += STEP_K;
        }
#pragma GCC unroll 16
  for (int m = 0; m < ROWS; ++m) {
    float sums[VECS * VLEN];
#pragma GCC unroll 8
    for (int v = 0; v < VECS; ++v) *(vec*)(sums + v * VLEN) = acc[m][v];
    for (int64_t oh = p / WQ; oh < OH && oh * WQ < p + VECS * VLEN; ++oh) {
      const int64_t from = p > oh * WQ ? p - oh * WQ : 0;
      const int64_t room = p + VECS * VLEN - oh * WQ, to = room < OW ? room : OW;
      const int64_t pixel = (od * OH + oh) * OW, shift = oh * WQ - p;
#pragma omp simd
      for (int64_t ow = from; ow < to; ++ow)
        out[m * P + pixel + ow] = finish(sums[shift + ow], in, image, o + m, pixel + ow);
    }
  }
}

template <int ROWS, int VECS = NV>
static void tile_of(int64_t vecs, const float* x, const float* w, float* out, const void* const* in, int64_t image,
                    int64_t o, int64_t od, int64_t p) {
  if constexpr (VECS > 1)
    if (vecs < VECS) return tile_of<ROWS, VECS - 1>(vecs, x, w, out, in, image, o, od, p);
  tile<ROWS, VECS>(x, w, out, in, image, o, od, p);
}

// Vectors [v0, v1) of all output planes by channel tiles [t0, t1) of one group.
static void block(const float* x, const float* w, float* out, int64_t v0, int64_t v1, int64_t t0, int64_t t1,
                  const void* const* in, int64_t image, int64_t group) {
  for (int64_t v = v0; v < v1;) {
    const int64_t od = v / FLAT_VECS, inside = v % FLAT_VECS;
    int64_t vecs = NV;
    if (vecs > v1 - v) vecs = v1 - v;
    if (vecs > FLAT_VECS - inside) vecs = FLAT_VECS - inside;
    for (int64_t t = t0; t < t1; ++t) {
      const float* weights = PACK_W ? w + t * K * MR : w + t * MR * K;
      const auto call = [&](auto kernel) {
        kernel(vecs, x + od * SD * PLANE, weights, out + t * MR * P, in, image, group * OG + t * MR, od, inside * VLEN);
      };
      if (OG % MR != 0 && t == O_TILES - 1)
        call(tile_of < OG % MR ? OG % MR : MR >);
      else
        call(tile_of<MR>);
    }
    v += vecs;
  }
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void* workspace) {
  const float* x = static_cast<const float*>(in[0]);
  const float* w = static_cast<const float*>(in[1]);
  float* prepared = static_cast<float*>(workspace);
  constexpr int64_t WEIGHTS_OF_GROUP = PACK_W ? O_TILES * K * MR : OG * K;
  for (int64_t i = C * CHANNEL; i < PREPARED; ++i) prepared[i] = 0;
  for (int64_t image = 0; image < N; ++image) {
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp for collapse(2) schedule(static)
      for (int64_t c = 0; c < C; ++c)
        for (int64_t d = 0; d < DP; ++d)
          prepare_plane(x + (image * C + c) * ID * IH * IW, prepared + c * CHANNEL + d * PLANE, d);
      // Contiguous shares of pixel vectors (or of channel tiles) over all groups.
      const int64_t threads = omp_get_num_threads(), me = omp_get_thread_num();
      constexpr int64_t VECS = OD * FLAT_VECS, UNIT = BY_CHANNELS ? O_TILES : VECS;
      const int64_t from = G * UNIT * me / threads, to = G * UNIT * (me + 1) / threads;
      for (int64_t g = from / UNIT; g * UNIT < to; ++g) {
        const int64_t a = from > g * UNIT ? from - g * UNIT : 0, z = to < (g + 1) * UNIT ? to - g * UNIT : UNIT;
        block(prepared + g * CG * CHANNEL, w + g * WEIGHTS_OF_GROUP,
              static_cast<float*>(out[0]) + (image * O + g * OG) * P, BY_CHANNELS ? 0 : a, BY_CHANNELS ? VECS : z,
              BY_CHANNELS ? a : 0, BY_CHANNELS ? z : O_TILES, in, image, g);
      }
    }
  }
}
