// Depthwise convolution: every output channel reads one input channel, so there is nothing to reuse but the plane
// itself. The plane is copied with its padding into L1/L2 scratch (prepare_plane), then taps are summed with pixels in
// lanes.
//
// TR output rows are computed together: an input row that several of them read is loaded once (the loops are unrolled
// and the loads are the same expression). At 3x3, stride 1 this is 3 (TR + 2) loads for 9 TR FMAs instead of 9 TR. FLAT
// treats all output rows as one row of the padded width: lanes are full where OW is no multiple of VLEN (7, 14, 28), at
// the price of a pass that takes the padding columns out.

typedef float vec __attribute__((vector_size(4 * VLEN), aligned(4), may_alias));

static_assert(C == G && ID == 1 && OD == 1 && KD == 1);
constexpr int64_t MULTIPLIER = O / G, TAPS = KH * KW, P = OH * OW;
constexpr int64_t ROWS = FLAT ? 1 : (TR < OH ? TR : OH);
constexpr int64_t COLUMNS = FLAT ? (OH - 1) * WQ + OW : OW;  // length of a (flat) row
constexpr int64_t UNROLL = NV < (COLUMNS + VLEN - 1) / VLEN ? NV : (COLUMNS + VLEN - 1) / VLEN;
constexpr int64_t PLANE_SCRATCH = (CHANNEL + (UNROLL + 1) * VLEN + 15) / 16 * 16;
constexpr int64_t SUMS = FLAT ? (COLUMNS + UNROLL * VLEN + 15) / 16 * 16 : 0;
constexpr int64_t THREAD_FLOATS = PLANE_SCRATCH + SUMS;

extern "C" size_t amdahl_workspace_bytes(void) { return 4 * THREADS * THREAD_FLOATS; }
extern "C" size_t amdahl_packed_bytes(int) { return 0; }
extern "C" void amdahl_pack(int, const void*, void*) {}

// acc[r][v] = sum over taps, at output rows r (0 … R) and columns v * VLEN …, from the prepared plane at this row.
template <int64_t R, int64_t V>
static inline __attribute__((always_inline)) void sum_taps(const float* plane, const float* w, vec (&acc)[R][V]) {
#pragma GCC unroll 16
  for (int64_t r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int64_t v = 0; v < V; ++v) acc[r][v] = vec{};
#pragma GCC unroll 11
  for (int64_t kh = 0; kh < KH; ++kh)
#pragma GCC unroll 11
    for (int64_t kw = 0; kw < KW; ++kw)
#pragma GCC unroll 16
      for (int64_t r = 0; r < R; ++r)
#pragma GCC unroll 8
        for (int64_t v = 0; v < V; ++v)
          acc[r][v] += w[kh * KW + kw] * *(const vec*)(plane + tap_offset(0, kh, kw) + r * WQ + v * VLEN);
}

// R rows from oh on, all columns.
template <int64_t R>
static void rows(const float* plane, const float* w, float* out, const void* const* in, int64_t image, int64_t o,
                 int64_t oh) {
  for (int64_t ow = 0; ow < OW; ow += UNROLL * VLEN) {
    vec acc[R][UNROLL];
    sum_taps<R, UNROLL>(plane + oh * WQ + ow, w, acc);
#pragma GCC unroll 16
    for (int64_t r = 0; r < R; ++r)
#pragma GCC unroll 8
      for (int64_t v = 0; v < UNROLL; ++v) {
        float sums[VLEN];
        *(vec*)sums = acc[r][v];
        const int64_t at = ow + v * VLEN, p = (oh + r) * OW + at;
        if (at + VLEN <= OW) {
#pragma omp simd
          for (int64_t j = 0; j < VLEN; ++j) out[p + j] = finish(sums[j], in, image, o, p + j);
        } else {
          for (int64_t j = 0; at + j < OW; ++j) out[p + j] = finish(sums[j], in, image, o, p + j);
        }
      }
  }
}

static void plane_flat(const float* plane, const float* w, float* sums, float* out, const void* const* in,
                       int64_t image, int64_t o) {
  for (int64_t j = 0; j < COLUMNS; j += UNROLL * VLEN) {
    vec acc[1][UNROLL];
    sum_taps<1, UNROLL>(plane + j, w, acc);
#pragma GCC unroll 8
    for (int64_t v = 0; v < UNROLL; ++v) *(vec*)(sums + j + v * VLEN) = acc[0][v];
  }
  for (int64_t oh = 0; oh < OH; ++oh)
#pragma omp simd
    for (int64_t ow = 0; ow < OW; ++ow) out[oh * OW + ow] = finish(sums[oh * WQ + ow], in, image, o, oh * OW + ow);
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void* workspace) {
  const float* x = static_cast<const float*>(in[0]);
  const float* w = static_cast<const float*>(in[1]);
#pragma omp parallel num_threads(THREADS)
  {
    float* plane = static_cast<float*>(workspace) + omp_get_thread_num() * THREAD_FLOATS;
    // The slack behind the plane is read into lanes that are never stored; it must only be initialised once.
    for (int64_t i = CHANNEL; i < PLANE_SCRATCH; ++i) plane[i] = 0;
#pragma omp for collapse(2) schedule(static)
    for (int64_t image = 0; image < N; ++image)
      for (int64_t c = 0; c < C; ++c) {
        prepare_plane(x + (image * C + c) * IH * IW, plane, 0);
        for (int64_t m = 0; m < MULTIPLIER; ++m) {
          const int64_t o = c * MULTIPLIER + m;
          float* to = static_cast<float*>(out[0]) + (image * O + o) * P;
          if constexpr (FLAT) {
            plane_flat(plane, w + o * TAPS, plane + PLANE_SCRATCH, to, in, image, o);
          } else {
            int64_t oh = 0;
            for (; oh + ROWS <= OH; oh += ROWS) rows<ROWS>(plane, w + o * TAPS, to, in, image, o, oh);
            for (; oh < OH; ++oh) rows<1>(plane, w + o * TAPS, to, in, image, o, oh);
          }
        }
      }
  }
}
