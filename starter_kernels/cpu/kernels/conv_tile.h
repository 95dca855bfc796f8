// A tile of a convolution as a product: channels of the output by vectors of pixels, summed over rows of a packed panel (KC x NR). It holds MR * NV
// accumulators: 8 x 3 vectors leave room for three of the panel, and each step of k loads 3 + 8 (broadcast) operands for 24 FMAs: the two FMA ports are the limit, not the
// two load ports.

typedef float vec __attribute__((vector_size(4 * VLEN), aligned(4), may_alias));

constexpr int64_t NR = NV * VLEN;

// Images that pass through one parallel region: as many of so many prepared floats as a core's L2 holds. A
// region costs as much as a small image: 16 of 64x128 by 64x3x3, transposed, took 0.44 ms one by one and 0.21 together (two threads, Zen 1).
constexpr int64_t images_together(int64_t floats) {
  constexpr int64_t MOST_FLOATS = 65536;
  const int64_t many = floats > 0 ? MOST_FLOATS / floats : N;
  return many < 1 ? 1 : many < N ? many : N;
}

// One tile: ROWS channels by VECS vectors of pixels over kc steps. `first`: starts from zero, else from `partial`;
// `last`: `write` gets the sums of `n` pixels of each channel, else they are left in `partial` ([MR][NR]). Weight (k, m) is w[k * STEP_K + m * STEP_M].
template <class Weights, int ROWS, int VECS, class Write>
static void tile(const float* w, const float* b, int64_t kc, float* partial, bool first, bool last, int64_t n, const Write& write) {
  vec acc[ROWS][VECS];
#pragma GCC unroll 16
  for (int m = 0; m < ROWS; ++m)
#pragma GCC unroll 8
    for (int v = 0; v < VECS; ++v) acc[m][v] = first ? vec{} : *(const vec*)(partial + m * NR + v * VLEN);
  for (int64_t k = 0; k < kc; ++k) {
    vec row[VECS];
#pragma GCC unroll 8
    for (int v = 0; v < VECS; ++v) row[v] = *(const vec*)(b + k * NR + v * VLEN);
    if constexpr (PREFETCH > 0) __builtin_prefetch(w + (k + PREFETCH) * Weights::STEP_K);
#pragma GCC unroll 16
    for (int m = 0; m < ROWS; ++m)
#pragma GCC unroll 8
      for (int v = 0; v < VECS; ++v) acc[m][v] += w[k * Weights::STEP_K + m * Weights::STEP_M] * row[v];
  }
  if (!last) {
#pragma GCC unroll 16
    for (int m = 0; m < ROWS; ++m)
#pragma GCC unroll 8
      for (int v = 0; v < VECS; ++v) *(vec*)(partial + m * NR + v * VLEN) = acc[m][v];
    return;
  }
  // One row at a time through memory: the epilogue is scalar text that the compiler vectorises over pixels.
#pragma GCC unroll 16
  for (int m = 0; m < ROWS; ++m) {
    float sums[VECS * VLEN];
#pragma GCC unroll 8
    for (int v = 0; v < VECS; ++v) *(vec*)(sums + v * VLEN) = acc[m][v];
    if (n == VECS * VLEN)
      write.template whole<VECS * VLEN>(m, sums);
    else
      write.part(m, sums, n);
  }
}

template <class Weights, int ROWS, int VECS = NV, class Write>
static void tile_of(int64_t vecs, const float* w, const float* b, int64_t kc, float* partial, bool first, bool last, int64_t n, const Write& write) {
  if constexpr (VECS > 1)
    if (vecs < VECS) return tile_of<Weights, ROWS, VECS - 1>(vecs, w, b, kc, partial, first, last, n, write);
  tile<Weights, ROWS, VECS>(w, b, kc, partial, first, last, n, write);
}
