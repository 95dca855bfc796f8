// 3x3 convolution by Winograd's minimal filtering F(m x m, 3 x 3), m = 2 or 4: an (m+2)^2 patch of x gives m^2 outputs
// with (m+2)^2 products an input channel instead of 9 m^2: 2.25 times fewer for m = 2, 4 times for m = 4 (whose larger
// transforms lose about one more bit). Lavin & Gray 2016; points 0, 1, -1 for m = 2. For m = 4 the usual 0, 1, -1, 2, -2 round 3.7
// times as much as the direct sum (rms); 0, 3/4, -3/4, 3/2, -3/2 spread the powers evenly around 1, are as exact in binary, and
// round 1.8 times as much.
//
// x is cut into T patches. Transformed patches are V[xi][channel block][tile][16], so that each of the (m+2)^2 products
// of matrices over channels is a 1x1 convolution on channel blocks: 16 output channels are lanes, tiles are broadcast.
// PARTITION 0: threads take blocks of TB tiles, everything else stays in their L2. 1: all tiles at once and threads
// share the products, so that each reads its part of the weights only.

typedef float vec __attribute__((vector_size(4 * BLOCK), aligned(4), may_alias));

constexpr int64_t A = WINO_M + 2, XI = A * A, CB = (C + BLOCK - 1) / BLOCK, OB = (O + BLOCK - 1) / BLOCK, P = OH * OW;
constexpr int64_t TH = (OH + WINO_M - 1) / WINO_M, TW = (OW + WINO_M - 1) / WINO_M, T = TH * TW;
constexpr int64_t WANTED = PARTITION == 1 ? T : (TB < T ? TB : T);
constexpr int64_t TILE_PX = PX < WANTED ? PX : WANTED;
constexpr int64_t CHUNK = PARTITION == 1 ? T : (WANTED + TILE_PX - 1) / TILE_PX * TILE_PX;  // tiles of a block
constexpr int64_t CHUNKS = (T + CHUNK - 1) / CHUNK, TAIL_PX = (T % CHUNK == 0 ? CHUNK : T % CHUNK) % TILE_PX;
constexpr int64_t TILE_OB = OCV < OB ? OCV : OB, TAIL_OB = OB % TILE_OB, O_GROUPS = (OB + TILE_OB - 1) / TILE_OB;
// Floats between matrices: a cache line more than they are long, since a patch's (m+2)^2 values go to as many matrices, and at a multiple of
// 4 KiB they would all fall into one set of L1 (256 channels of 28 tiles are 28 KiB).
constexpr int64_t V_XI = CB * CHUNK * BLOCK + 16, M_XI = OB * CHUNK * BLOCK + 16, V_FLOATS = XI * V_XI, M_FLOATS = XI * M_XI;
// A weight is used for few tiles (16 of 14x14 outputs) and comes from memory: while one group of them is used the next is fetched into L2, in equal parts at
// each block of channels of each pass. resnet50 whole, in turns on Zen 3: 1.03 [1.02, 1.04].
constexpr int64_t PASSES = (CHUNK + TILE_PX - 1) / TILE_PX, FETCH = (4 * TILE_OB * BLOCK * BLOCK / PASSES + 63) / 64 * 64;
constexpr int64_t X_COPY = IN_BLOCKED ? 0 : CB * IH * IW * BLOCK;  // row-major x is turned into blocks first
constexpr int64_t TEAMS = PARTITION == 1 ? 1 : THREADS;

static_assert(KH == 3 && KW == 3 && SH == 1 && SW == 1 && DH == 1 && DW == 1 && G == 1);

// Zeros of the matrices cost nothing once the loops are unrolled.
constexpr float INPUT[A][A] =
#if WINO_M_IS_2
    {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}};
constexpr double FILTER[A][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
constexpr float OUTPUT[WINO_M][A] = {{1, 1, 1, 0}, {0, 1, -1, -1}};
#else
    {{81.0f / 64, 0, -45.0f / 16, 0, 1, 0},
     {0, -27.0f / 16, -9.0f / 4, 3.0f / 4, 1, 0},
     {0, 27.0f / 16, -9.0f / 4, -3.0f / 4, 1, 0},
     {0, -27.0f / 32, -9.0f / 16, 3.0f / 2, 1, 0},
     {0, 27.0f / 32, -9.0f / 16, -3.0f / 2, 1, 0},
     {0, 81.0f / 64, 0, -45.0f / 16, 0, 1}};
constexpr double FILTER[A][3] = {{64.0 / 81, 0, 0},
                                 {-128.0 / 243, -32.0 / 81, -8.0 / 27},
                                 {-128.0 / 243, 32.0 / 81, -8.0 / 27},
                                 {32.0 / 243, 16.0 / 81, 8.0 / 27},
                                 {32.0 / 243, -16.0 / 81, 8.0 / 27},
                                 {0, 0, 1}};
constexpr float OUTPUT[WINO_M][A] = {{1, 1, 1, 1, 1, 0},
                                     {0, 3.0f / 4, -3.0f / 4, 3.0f / 2, -3.0f / 2, 0},
                                     {0, 9.0f / 16, 9.0f / 16, 9.0f / 4, 9.0f / 4, 0},
                                     {0, 27.0f / 64, -27.0f / 64, 27.0f / 8, -27.0f / 8, 1}};
#endif

extern "C" size_t amdahl_workspace_bytes(void) { return 4 * (X_COPY + TEAMS * (V_FLOATS + M_FLOATS)); }
extern "C" size_t amdahl_packed_bytes(int input) { return input == 1 ? 4 * XI * CB * BLOCK * OB * BLOCK : 0; }

// U = FILTER w FILTER^T in float64, as [xi][group of OCV blocks][channel][OCV][16]; channels up to whole blocks are
// zero.
extern "C" void amdahl_pack(int, const void* raw, void* packed) {
  const float* w = static_cast<const float*>(raw);
  float* to = static_cast<float*>(packed);
  for (int64_t o = 0; o < OB * BLOCK; ++o)
    for (int64_t c = 0; c < CB * BLOCK; ++c) {
      double half[A][3] = {}, full[A][A] = {};
      if (o < O && c < C)
        for (int64_t i = 0; i < A; ++i)
          for (int64_t s = 0; s < 3; ++s)
            for (int64_t r = 0; r < 3; ++r) half[i][s] += FILTER[i][r] * w[((o * C + c) * 3 + r) * 3 + s];
      for (int64_t i = 0; i < A; ++i)
        for (int64_t j = 0; j < A; ++j)
          for (int64_t s = 0; s < 3; ++s) full[i][j] += half[i][s] * FILTER[j][s];
      const int64_t group = o / (TILE_OB * BLOCK), blocks = group == O_GROUPS - 1 && TAIL_OB ? TAIL_OB : TILE_OB;
      const int64_t lane = o - group * TILE_OB * BLOCK;
      for (int64_t xi = 0; xi < XI; ++xi)
        to[(xi * OB + group * TILE_OB) * BLOCK * CB * BLOCK + c * blocks * BLOCK + lane] = (float)full[xi / A][xi % A];
    }
}

// to = matrix from; elements of `from` are `stride` vectors apart.
template <int64_t ROWS, int64_t COLS>
static inline __attribute__((always_inline)) void transform(const float (&matrix)[ROWS][COLS], const vec* from,
                                                            int64_t stride, vec* to, int64_t to_stride) {
#pragma GCC unroll 8
  for (int64_t i = 0; i < ROWS; ++i) {
    vec sum{};
    bool any = false;
#pragma GCC unroll 8
    for (int64_t j = 0; j < COLS; ++j)
      if (matrix[i][j] != 0) {
        const vec term = matrix[i][j] == 1 ? from[j * stride] : matrix[i][j] * from[j * stride];
        sum = any ? sum + term : term;
        any = true;
      }
    to[i * to_stride] = sum;
  }
}

// Patch t of one channel block (x: its plane) to V, `v` at [xi = 0][this block][tile].
static void transform_input(const float* x, float* v, int64_t t) {
  const int64_t top = t / TW * WINO_M - PAD_H, left = t % TW * WINO_M - PAD_W;
  vec patch[A][A], half[A][A], full[A][A];
  if (top >= 0 && left >= 0 && top + A <= IH && left + A <= IW) {
#pragma GCC unroll 8
    for (int64_t i = 0; i < A; ++i)
#pragma GCC unroll 8
      for (int64_t j = 0; j < A; ++j) patch[i][j] = *(const vec*)(x + ((top + i) * IW + left + j) * BLOCK);
  } else {
    for (int64_t i = 0; i < A; ++i)
      for (int64_t j = 0; j < A; ++j) {
        const bool inside = top + i >= 0 && top + i < IH && left + j >= 0 && left + j < IW;
        patch[i][j] = inside ? *(const vec*)(x + ((top + i) * IW + left + j) * BLOCK) : vec{};
      }
  }
#pragma GCC unroll 8
  for (int64_t j = 0; j < A; ++j) transform(INPUT, &patch[0][j], A, &half[0][j], A);
#pragma GCC unroll 8
  for (int64_t i = 0; i < A; ++i) transform(INPUT, &half[i][0], 1, &full[i][0], 1);
#pragma GCC unroll 64
  for (int64_t xi = 0; xi < XI; ++xi) *(vec*)(v + xi * V_XI) = full[xi / A][xi % A];
}

// Products of tile `t` (m at [xi = 0][this block][tile]) to pixels, epilogue included.
static void transform_output(const float* m, float* out, const void* const* in, int64_t image, int64_t b, int64_t t) {
  vec product[A][A], half[WINO_M][A], full[WINO_M][WINO_M];
#pragma GCC unroll 64
  for (int64_t xi = 0; xi < XI; ++xi) product[xi / A][xi % A] = *(const vec*)(m + xi * M_XI);
#pragma GCC unroll 8
  for (int64_t j = 0; j < A; ++j) transform(OUTPUT, &product[0][j], A, &half[0][j], A);
#pragma GCC unroll 4
  for (int64_t i = 0; i < WINO_M; ++i) transform(OUTPUT, &half[i][0], 1, &full[i][0], 1);
  const int64_t top = t / TW * WINO_M, left = t % TW * WINO_M;
  for (int64_t i = 0; i < WINO_M && top + i < OH; ++i)
    for (int64_t j = 0; j < WINO_M && left + j < OW; ++j) {
      const int64_t p = (top + i) * OW + left + j;
      float sums[BLOCK];
      *(vec*)sums = full[i][j];
      store_block(sums, out, in, image, b, p);
    }
}

// M[t …][V blocks] = sum over channels of V[t …] U. next: what is fetched meanwhile.
template <int V, int PIXELS>
static void product(const float* v, const float* u, float* m, const char* next) {
  vec acc[V][PIXELS] = {};
  for (int64_t cb = 0; cb < CB; ++cb) {
#pragma GCC unroll 64
    for (int64_t byte = 0; byte < FETCH; byte += 64) __builtin_prefetch(next + cb * FETCH + byte, 0, 2);
    const float* x = v + cb * CHUNK * BLOCK;
#pragma GCC unroll UNROLL
    for (int64_t c = 0; c < BLOCK; ++c) {
      vec row[V];
#pragma GCC unroll 8
      for (int i = 0; i < V; ++i) row[i] = *(const vec*)(u + i * BLOCK);
      u += V * BLOCK;
#pragma GCC unroll 32
      for (int p = 0; p < PIXELS; ++p)
#pragma GCC unroll 8
        for (int i = 0; i < V; ++i) acc[i][p] += row[i] * x[p * BLOCK + c];
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < V; ++i)
#pragma GCC unroll 32
    for (int p = 0; p < PIXELS; ++p) *(vec*)(m + (i * CHUNK + p) * BLOCK) = acc[i][p];
}

template <int V>
static void products(const float* v, const float* u, float* m, int64_t tiles) {
  const char* next = (const char*)(u + CB * BLOCK * V * BLOCK);
  int64_t t = 0;
  for (; t + TILE_PX <= tiles; t += TILE_PX, next += CB * FETCH) product<V, TILE_PX>(v + t * BLOCK, u, m + t * BLOCK, next);
  if constexpr (TAIL_PX > 0)
    if (t < tiles) product<V, TAIL_PX>(v + t * BLOCK, u, m + t * BLOCK, next);
}

// Product number xi * O_GROUPS + group over the first `tiles` tiles of V.
static void matrix_product(const float* v, const float* u, float* m, int64_t number, int64_t tiles) {
  const int64_t xi = number / O_GROUPS, group = number % O_GROUPS;
  const float* from = v + xi * V_XI;
  const float* weights = u + (xi * OB + group * TILE_OB) * BLOCK * CB * BLOCK;
  float* to = m + xi * M_XI + group * TILE_OB * CHUNK * BLOCK;
  if (TAIL_OB != 0 && group == O_GROUPS - 1)
    products<TAIL_OB ? TAIL_OB : 1>(from, weights, to, tiles);
  else
    products<TILE_OB>(from, weights, to, tiles);
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void* workspace) {
  const float* u = static_cast<const float*>(in[1]);
  float* copy = static_cast<float*>(workspace);
  float* teams = copy + X_COPY;
  float* to = static_cast<float*>(out[0]);
  for (int64_t image = 0; image < N; ++image) {
#pragma omp parallel num_threads(THREADS)
    {
      const float* x = static_cast<const float*>(in[0]) + image * (IN_BLOCKED ? CB * BLOCK : C) * IH * IW;
      if constexpr (!IN_BLOCKED) {
#pragma omp for schedule(static)
        for (int64_t h = 0; h < CB * IH; ++h) {
          const float* row = x + (h / IH * BLOCK * IH + h % IH) * IW;
          const int64_t real = C - h / IH * BLOCK < BLOCK ? C - h / IH * BLOCK : BLOCK;
          for (int64_t w = 0; w < IW; ++w)
            for (int64_t c = 0; c < BLOCK; ++c) copy[(h * IW + w) * BLOCK + c] = c < real ? row[c * IH * IW + w] : 0.0f;
        }
        x = copy;
      }
      if constexpr (PARTITION == 1) {
        float *v = teams, *m = teams + V_FLOATS;
#pragma omp for schedule(static)
        for (int64_t i = 0; i < CB * T; ++i) transform_input(x + i / T * IH * IW * BLOCK, v + i * BLOCK, i % T);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < XI * O_GROUPS; ++i) matrix_product(v, u, m, i, T);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < OB * T; ++i) transform_output(m + i * BLOCK, to, in, image, i / T, i % T);
      } else {
        float *v = teams + omp_get_thread_num() * (V_FLOATS + M_FLOATS), *m = v + V_FLOATS;
#pragma omp for schedule(static)
        for (int64_t chunk = 0; chunk < CHUNKS; ++chunk) {
          const int64_t t0 = chunk * CHUNK, tiles = T - t0 < CHUNK ? T - t0 : CHUNK;
          for (int64_t cb = 0; cb < CB; ++cb)
            for (int64_t t = 0; t < tiles; ++t)
              transform_input(x + cb * IH * IW * BLOCK, v + (cb * CHUNK + t) * BLOCK, t0 + t);
          for (int64_t i = 0; i < XI * O_GROUPS; ++i) matrix_product(v, u, m, i, tiles);
          for (int64_t b = 0; b < OB; ++b)
            for (int64_t t = 0; t < tiles; ++t) transform_output(m + (b * CHUNK + t) * BLOCK, to, in, image, b, t0 + t);
        }
      }
    }
  }
}
