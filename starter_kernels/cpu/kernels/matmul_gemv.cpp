// C = A * B for few rows of A: every element of B is used M times only, so the time is that of reading B. It is read once, in several
// streams at once (UNROLL_K panels, rows or columns of B): each core asks ahead for the next lines of each stream, so one stream is one
// row of DRAM at a time (64 MiB on Zen 3, one thread: 20 GB/s in one stream, 27 in four). Asking in the text only takes the place of
// what the hardware asks for: 20 to 25% slower.
// The prelude is that of matmul.cpp. Of few columns of B it is the transpose that is computed: A and B here are then the product's B and A transposed, and so are C's sizes.

// Rows of B that are summed apart: one chain of 4096 additions errs almost four times as much as blocks of 256 do (rms, normal inputs).
constexpr int64_t RUN = 256;

INLINE C_T finish_at(ACC sum, const void* const* in, int64_t m, int64_t n) { return IN_A == 0 ? finish(sum, in, 0, m, n) : finish(sum, in, 0, n, m); }

INLINE Vec splat_a(const A_T* a, int64_t m, int64_t k) { return splat(to_acc(a[m * A_ROW + k * A_COL])); }

// ---- B packed: panels of a cache line's columns (of a vector's, where M rows of sums would not leave registers), each with all of K one
// line after the other. Sums stay in registers; STREAMS panels pass at once.

// AVX-512 has 32 registers, AVX2 16. An element of A that is broadcast once for all streams must meet enough of them: eight rows in one stream
// were held up by 9 loads for 8 FMAs (8 x 4096 x 4096 on Zen 4, two threads: 2.83 ms; in three streams 1.69, memory's speed).
#ifdef __AVX512F__
constexpr int64_t MOST_SUMS = 24;
#else
constexpr int64_t MOST_SUMS = 12;
#endif
constexpr int64_t LINE_VECS = max_of(1, 64 / (VLEN * 4));
constexpr int64_t PANEL_VECS = M * LINE_VECS <= MOST_SUMS ? LINE_VECS : 1, PANEL = PANEL_VECS * LANES;
constexpr int64_t PANELS = ceil_div(N, PANEL);
constexpr int STREAMS = max_of(1, min_of(UNROLL_K, MOST_SUMS / (M * PANEL_VECS)));

template <int COUNT>
static void multiply_panels(const A_T* a, const ACC* b, ACC* sums) {
  for (int64_t k1 = 0; k1 < K; k1 += RUN) {
    Vec c[COUNT][M][PANEL_VECS] = {};
    for (int64_t k = k1; k < min_of(k1 + RUN, K); ++k)
      UNROLLED for (int m = 0; m < M; ++m) {
        const Vec x = splat_a(a, m, k);
        UNROLLED for (int p = 0; p < COUNT; ++p) {
          UNROLLED for (int v = 0; v < PANEL_VECS; ++v) c[p][m][v] += x * load(b + (p * K + k) * PANEL + v * LANES);
        }
      }
    for (int p = 0; p < COUNT; ++p)
      for (int m = 0; m < M; ++m)
        for (int v = 0; v < PANEL_VECS; ++v) {
          ACC* sum = sums + (p * M + m) * PANEL + v * LANES;
          store(sum, k1 == 0 ? c[p][m][v] : load(sum) + c[p][m][v]);
        }
  }
}

template <int COUNT>
static void compute_panels(const A_T* a, const ACC* b, int64_t panel, const void* const* in, C_T* c) {
  ACC sums[COUNT * M * PANEL];
  multiply_panels<COUNT>(a, b + panel * K * PANEL, sums);
  for (int64_t m = 0; m < M; ++m)
    for (int64_t p = 0; p < COUNT; ++p) {
      const int64_t n = (panel + p) * PANEL, columns = min_of(PANEL, N - n);
#pragma omp simd
      for (int64_t i = 0; i < columns; ++i) c[m * C_ROW + (n + i) * C_COL] = finish_at(sums[(p * M + m) * PANEL + i], in, m, n + i);
    }
}

static void compute_packed(const A_T* a, const ACC* b, int64_t first, int64_t last, const void* const* in, C_T* c) {
  int64_t panel = first;
  for (; panel + STREAMS <= last; panel += STREAMS) compute_panels<STREAMS>(a, b, panel, in, c);
  for (; panel < last; ++panel) compute_panels<1>(a, b, panel, in, c);
}

// ---- B where it is ------------------------------------------------------------------------------------------------------------------

constexpr int64_t WIDTH = 4 * LANES;                       // columns of a step of the task partition
constexpr int64_t PARTS = PACK_B ? PANELS : ceil_div(N, WIDTH);
constexpr int64_t TASK_COUNT = PARTITION == 0 ? 1 : min_of(PARTS, THREADS * TASKS);
constexpr int WORKERS = static_cast<int>(min_of(THREADS, TASK_COUNT));
constexpr int64_t SUMS = ceil_div(M * ceil_div(PARTS, TASK_COUNT) * WIDTH, 16) * 16;  // of a thread

// Contiguous rows: sums of all columns stay in L1 while ROWS rows of B pass.
template <int ROWS>
static void add_rows(const A_T* a, const B_T* b, int64_t k, int64_t columns, ACC* sums) {
  Vec x[ROWS][M];
  UNROLLED for (int u = 0; u < ROWS; ++u) {
    UNROLLED for (int m = 0; m < M; ++m) x[u][m] = splat_a(a, m, k + u);
  }
  int64_t n = 0;
  for (; n + LANES <= columns; n += LANES) {
    Vec row[ROWS];
    UNROLLED for (int u = 0; u < ROWS; ++u) row[u] = load(reinterpret_cast<const ACC*>(b) + (k + u) * B_ROW + n);
    UNROLLED for (int m = 0; m < M; ++m) {
      Vec c = load(sums + m * columns + n);
      UNROLLED for (int u = 0; u < ROWS; ++u) c += x[u][m] * row[u];
      store(sums + m * columns + n, c);
    }
  }
  for (; n < columns; ++n)
    for (int u = 0; u < ROWS; ++u)
      for (int m = 0; m < M; ++m) sums[m * columns + n] += to_acc(a[m * A_ROW + (k + u) * A_COL]) * b[(k + u) * B_ROW + n];
}

static void sum_rows(const A_T* a, const B_T* b, int64_t columns, ACC* sums) {
  for (int64_t k1 = 0; k1 < K; k1 += RUN) {
    ACC* of_run = k1 == 0 ? sums : sums + SUMS;
    for (int64_t i = 0; i < M * columns; ++i) of_run[i] = 0;
    int64_t k = k1;
    for (; k + UNROLL_K <= min_of(k1 + RUN, K); k += UNROLL_K) add_rows<UNROLL_K>(a, b, k, columns, of_run);
    for (; k < min_of(k1 + RUN, K); ++k) add_rows<1>(a, b, k, columns, of_run);
    if (k1 > 0)
      for (int64_t i = 0; i < M * columns; ++i) sums[i] += of_run[i];
  }
}

// Contiguous columns: dot products along K of COUNT columns of B with all rows of A, a stream a column. One sum a column would wait four
// cycles for each of its additions: DOTS sums hide that, and stay in registers; they are added up after RUN steps.
constexpr int DOTS = M * UNROLL_K <= MOST_SUMS ? UNROLL_K : max_of(1, MOST_SUMS / M);

template <int COUNT>
static void dot_columns(const A_T* a, const B_T* b, ACC* sums, int64_t step) {
  Vec all[M][COUNT];
  UNROLLED for (int m = 0; m < M; ++m) {
    UNROLLED for (int j = 0; j < COUNT; ++j) all[m][j] = Vec{};
  }
  int64_t k = 0;
  if constexpr (A_COL == 1) {
    for (int64_t k1 = 0; k1 < K; k1 += RUN * LANES) {
      Vec c[M][COUNT];
      UNROLLED for (int m = 0; m < M; ++m) {
        UNROLLED for (int j = 0; j < COUNT; ++j) c[m][j] = Vec{};
      }
      for (const int64_t end = min_of(k1 + RUN * LANES, K); k + LANES <= end; k += LANES) {
        Vec column[COUNT];
        UNROLLED for (int j = 0; j < COUNT; ++j) column[j] = load(reinterpret_cast<const ACC*>(b) + j * B_COL + k);
        UNROLLED for (int m = 0; m < M; ++m) {
          const Vec row = load(reinterpret_cast<const ACC*>(a) + m * A_ROW + k);
          UNROLLED for (int j = 0; j < COUNT; ++j) c[m][j] += row * column[j];
        }
      }
      UNROLLED for (int m = 0; m < M; ++m) {
        UNROLLED for (int j = 0; j < COUNT; ++j) all[m][j] += c[m][j];
      }
    }
  }
  for (int m = 0; m < M; ++m)
    for (int j = 0; j < COUNT; ++j) {
      ACC sum = 0;
      for (int64_t l = 0; l < LANES; ++l) sum += all[m][j][l];
      for (int64_t i = k; i < K; ++i) sum += to_acc(a[m * A_ROW + i * A_COL]) * b[j * B_COL + i];
      sums[m * step + j] = sum;
    }
}

static void compute_in_place(const A_T* a, const B_T* b, int64_t begin, int64_t end, ACC* sums, const void* const* in, C_T* c) {
  const int64_t columns = end - begin;
  b += begin * B_COL;
  if constexpr (B_COL == 1) {
    sum_rows(a, b, columns, sums);
  } else {
    int64_t n = 0;
    for (; n + DOTS <= columns; n += DOTS) dot_columns<DOTS>(a, b + n * B_COL, sums + n, columns);
    for (; n < columns; ++n) dot_columns<1>(a, b + n * B_COL, sums + n, columns);
  }
  for (int64_t m = 0; m < M; ++m) {
    C_T* row = c + m * C_ROW + begin * C_COL;
#pragma omp simd
    for (int64_t n = 0; n < columns; ++n) row[n * C_COL] = finish_at(sums[m * columns + n], in, m, begin + n);
  }
}

extern "C" size_t amdahl_workspace_bytes(void) { return PACK_B ? 0 : sizeof(ACC) * WORKERS * 2 * SUMS; }  // of all of K, of a run
extern "C" size_t amdahl_packed_bytes(int input) { return PACK_B && input == 1 ? sizeof(ACC) * PANELS * K * PANEL : 0; }
extern "C" void amdahl_pack(int, const void* raw, void* packed) {
  const B_T* b = static_cast<const B_T*>(raw) + B_OFFSET;
  ACC* to = static_cast<ACC*>(packed);
  for (int64_t panel = 0; panel < PANELS; ++panel)
    for (int64_t k = 0; k < K; ++k)
      for (int64_t n = panel * PANEL; n < (panel + 1) * PANEL; ++n) *to++ = n < N ? to_acc(b[k * B_ROW + n * B_COL]) : ACC(0);
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void* workspace) {
  const A_T* a = static_cast<const A_T*>(in[IN_A]) + A_OFFSET;
  C_T* c = static_cast<C_T*>(out[0]) + C_OFFSET;
#pragma omp parallel for num_threads(WORKERS) schedule(SCHEDULE)
  for (int64_t task = 0; task < TASK_COUNT; ++task) {
    const int64_t first = task * PARTS / TASK_COUNT, last = (task + 1) * PARTS / TASK_COUNT;
    if constexpr (PACK_B == 1) {
      compute_packed(a, static_cast<const ACC*>(in[1]), first, last, in, c);
    } else {
      ACC* sums = static_cast<ACC*>(workspace) + omp_get_thread_num() * 2 * SUMS;
      compute_in_place(a, static_cast<const B_T*>(in[IN_B]) + B_OFFSET, first * WIDTH, min_of(N, last * WIDTH), sums, in, c);
    }
  }
}
