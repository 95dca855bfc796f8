// C = A * B with A and B rounded to bfloat16 and sums in fp32, on AMX: one instruction multiplies a tile of 16 rows by 32
// steps of K with one of 32 steps by 16 columns, 16384 operations in 16 cycles. Eight tile registers hold MT x NT sums, MT
// tiles of A and NT of B; 2 x 2 sums need one load a product.
//
// B is constant: stored at load as panels of NT tiles, [panel][step of K][NT][16 pairs of K][16 columns][2], read in order and
// half as large as it was. A is rounded at every call by all threads together, [tile of 16 rows][step][16 rows][32]: a tile
// is one KiB in a row. What is missing to whole tiles is zero.

typedef uint16_t bf16;
typedef float Vec16 __attribute__((vector_size(64), aligned(4), may_alias));
typedef uint16_t Half16 __attribute__((vector_size(32), aligned(2), may_alias));
#define INLINE static inline __attribute__((always_inline))

constexpr int64_t DEPTH = 32, TILE = 16 * DEPTH;  // bf16 elements
constexpr int64_t STEPS = ceil_div(K, DEPTH), M_TILES = ceil_div(M, 16), M_BLOCKS = ceil_div(M_TILES, MT);
constexpr int64_t WIDTH = NT * 16, PANELS = ceil_div(N, WIDTH), PANEL = STEPS * NT * TILE;
constexpr int64_t BLOCK = min_of(KB, STEPS);                 // steps whose panel of B passes through L1 together
constexpr int MT_LEFT = static_cast<int>(M_TILES % MT);      // tiles of the last block, 0: it is full
constexpr int64_t SUMS = BLOCK < STEPS ? M_BLOCKS * MT * NT * 256 : 0;  // floats that wait for the next block, a thread

constexpr int64_t ITEMS = PARTITION == 2 ? M_BLOCKS : PANELS;  // what threads share
constexpr int64_t TASK_COUNT = PARTITION == 0 ? 1 : min_of(THREADS * TASKS, ITEMS);
constexpr int WORKERS = static_cast<int>(PARTITION == 0 ? 1 : min_of(THREADS, TASK_COUNT));

// Lines of the panel after this one that are fetched at each step, so that weights from DRAM arrive
// before they are needed; into L2, for L1 is full of this one.
constexpr int LINES = PREFETCH ? static_cast<int>(ceil_div(NT * TILE * 2 / 64, PARTITION == 2 ? ceil_div(M_BLOCKS, TASK_COUNT) : M_BLOCKS)) : 0;

// ---- tiles -----------------------------------------------------------------------------------------------------------

template <int VALUE>
struct Constant {
  static constexpr int value = VALUE;
};

// f(Constant<0>) … f(Constant<COUNT - 1>): tile registers are named in instructions, not addressed.
template <int COUNT, class F>
INLINE void each(F f) {
  if constexpr (COUNT > 0) {
    each<COUNT - 1>(f);
    f(Constant<COUNT - 1>());
  }
}

template <int REGISTER>
INLINE void load_tile(const void* from) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(int64_t{64}), "i"(REGISTER) : "memory");
}
template <int REGISTER>
INLINE void store_tile(float* to, int64_t row_bytes) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(row_bytes), "i"(REGISTER) : "memory");
}
template <int REGISTER>
INLINE void zero_tile() {
  asm volatile("tilezero %%tmm%c0" ::"i"(REGISTER));
}
template <int SUM, int A, int B>
INLINE void multiply_tiles() {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(SUM), "i"(A), "i"(B));
}

struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
// The registers of this thread; given back at the end, or every switch of threads would save their 8 KiB.
struct Tiles {
  Tiles() {
    const TileConfig config;
    asm volatile("ldtilecfg %0" ::"m"(config));
  }
  ~Tiles() { asm volatile("tilerelease"); }
};

// ---- rounding --------------------------------------------------------------------------------------------------------

INLINE void round_16(const float* from, bf16* to) {
  Half16 half;
  asm("vcvtneps2bf16 %1, %0" : "=v"(half) : "v"(*reinterpret_cast<const Vec16*>(from)));
  *reinterpret_cast<Half16*>(to) = half;
}

// Row m of A into its tiles; rows from M on are zero.
static void round_row(const A_T* a, int64_t m, bf16* tiles) {
  bf16* to = tiles + m / 16 * STEPS * TILE + m % 16 * DEPTH;
  const A_T* from = a + m * A_ROW;
  for (int64_t step = 0; step < STEPS; ++step, to += TILE) {
    const int64_t k0 = step * DEPTH;
    if (A_COL == 1 && m < M && k0 + DEPTH <= K) {
      round_16(from + k0, to);
      round_16(from + k0 + 16, to + 16);
    } else {
      for (int64_t k = k0; k < k0 + DEPTH; ++k) to[k - k0] = m < M && k < K ? rounded(from[k * A_COL]) : bf16(0);
    }
  }
}

// ---- products --------------------------------------------------------------------------------------------------------

// MT tiles of rows from tile `m` on, by one panel, steps k0 … k1; `waiting`: their sums between blocks of K.
template <int ROWS>
INLINE void multiply_block(const bf16* a, const bf16* panel, int64_t k0, int64_t k1, const char* next, float* waiting) {
  constexpr int A0 = MT * NT, B0 = A0 + MT;
  if (k0 == 0) each<ROWS * NT>([](auto i) { zero_tile<decltype(i)::value>(); });
  else each<ROWS * NT>([&](auto i) { load_tile<decltype(i)::value>(waiting + decltype(i)::value * 256); });
  for (int64_t step = k0; step < k1; ++step) {
    const bf16 *a_step = a + step * TILE, *b_step = panel + step * NT * TILE;
    each<LINES>([&](auto line) { __builtin_prefetch(next + decltype(line)::value * 64, 0, 2); });
    next += LINES * 64;
    each<NT>([&](auto j) { load_tile<B0 + decltype(j)::value>(b_step + decltype(j)::value * TILE); });
    each<ROWS>([&](auto i) {
      constexpr int I = decltype(i)::value;
      load_tile<A0 + I>(a_step + I * STEPS * TILE);
      each<NT>([&](auto j) { multiply_tiles<I * NT + decltype(j)::value, A0 + I, B0 + decltype(j)::value>(); });
    });
  }
}

template <int ROWS>
static void finish_block(const void* const* in, C_T* c, int64_t m0, int64_t n0) {
  alignas(64) float sums[ROWS * 16][WIDTH];
  each<ROWS * NT>([&](auto i) {
    constexpr int I = decltype(i)::value;
    store_tile<I>(&sums[I / NT * 16][I % NT * 16], WIDTH * 4);
  });
  const int64_t rows = min_of(ROWS * 16, M - m0), columns = min_of(WIDTH, N - n0);
  for (int64_t m = 0; m < rows; ++m) {
    C_T* row = c + (m0 + m) * C_ROW + n0 * C_COL;
    if (columns == WIDTH) {
#pragma omp simd
      for (int64_t n = 0; n < WIDTH; ++n) row[n * C_COL] = finish(sums[m][n], in, 0, m0 + m, n0 + n);
    } else {
      for (int64_t n = 0; n < columns; ++n) row[n * C_COL] = finish(sums[m][n], in, 0, m0 + m, n0 + n);
    }
  }
}

template <int ROWS>
static void block(const void* const* in, const bf16* a, const bf16* panel, C_T* c, int64_t mb, int64_t pn, int64_t k0, float* waiting) {
  const int64_t k1 = min_of(k0 + BLOCK, STEPS);
  const char* next = reinterpret_cast<const char*>(panel + PREFETCH * PANEL + k0 * NT * TILE) + mb % ceil_div(M_BLOCKS, TASK_COUNT) * LINES * BLOCK * 64;
  multiply_block<ROWS>(a + mb * MT * STEPS * TILE, panel, k0, k1, next, waiting);
  if (k1 == STEPS) finish_block<ROWS>(in, c, mb * MT * 16, pn * WIDTH);
  else each<ROWS * NT>([&](auto i) { store_tile<decltype(i)::value>(waiting + decltype(i)::value * 256, 64); });
}

static void run_task(const void* const* in, const bf16* a, C_T* c, int64_t m_begin, int64_t m_end, int64_t n_begin, int64_t n_end, float* sums) {
  for (int64_t pn = n_begin; pn < n_end; ++pn) {
    const bf16* panel = static_cast<const bf16*>(in[1]) + pn * PANEL;
    for (int64_t k0 = 0; k0 < STEPS; k0 += BLOCK)
      for (int64_t mb = m_begin; mb < m_end; ++mb) {
        float* waiting = sums + (SUMS ? mb * MT * NT * 256 : 0);
        if (MT_LEFT == 0 || mb + 1 < M_BLOCKS) block<MT>(in, a, panel, c, mb, pn, k0, waiting);
        else block<MT_LEFT ? MT_LEFT : 1>(in, a, panel, c, mb, pn, k0, waiting);
      }
  }
}

// ---- the interface ---------------------------------------------------------------------------------------------------

constexpr int64_t A_BYTES = M_TILES * STEPS * TILE * 2;

extern "C" size_t amdahl_workspace_bytes(void) { return A_BYTES + WORKERS * SUMS * sizeof(float); }

extern "C" size_t amdahl_packed_bytes(int input) { return input == 1 ? PANELS * PANEL * sizeof(bf16) : 0; }

extern "C" void amdahl_pack(int, const void* raw, void* packed) {
  const B_T* b = static_cast<const B_T*>(raw) + B_OFFSET;
  bf16* to = static_cast<bf16*>(packed);
  for (int64_t pn = 0; pn < PANELS; ++pn)
    for (int64_t step = 0; step < STEPS; ++step)
      for (int64_t j = 0; j < NT; ++j)
        for (int64_t pair = 0; pair < 16; ++pair)
          for (int64_t column = 0; column < 16; ++column)
            for (int64_t of = 0; of < 2; ++of, ++to) {
              const int64_t k = step * DEPTH + pair * 2 + of, n = pn * WIDTH + j * 16 + column;
              *to = k < K && n < N ? rounded(b[k * B_ROW + n * B_COL]) : bf16(0);
            }
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void* workspace) {
  bf16* a = static_cast<bf16*>(workspace);
  float* sums = reinterpret_cast<float*>(static_cast<char*>(workspace) + A_BYTES);
  const A_T* raw = static_cast<const A_T*>(in[0]) + A_OFFSET;
  C_T* c = static_cast<C_T*>(out[0]) + C_OFFSET;
#pragma omp parallel num_threads(WORKERS)
  {
#pragma omp for schedule(static)
    for (int64_t m = 0; m < M_TILES * 16; ++m) round_row(raw, m, a);
    const Tiles tiles;
    float* mine = sums + omp_get_thread_num() * SUMS;
#pragma omp for schedule(SCHEDULE)
    for (int64_t t = 0; t < TASK_COUNT; ++t) {
      const int64_t begin = t * ITEMS / TASK_COUNT, end = (t + 1) * ITEMS / TASK_COUNT;
      if (PARTITION == 2) run_task(in, a, c, begin, end, 0, PANELS, mine);
      else run_task(in, a, c, 0, M_BLOCKS, begin, end, mine);
    }
  }
}
