// C = A * B for few rows of A: every element of B is used M times only, so the time is that of reading B. It is read where it
// is, in several streams at once (UNROLL_K rows, or columns, of B), which DRAM serves faster than one.
// The prelude is that of matmul.cpp.

constexpr int64_t WIDTH = 4 * LANES;                       // columns of a step of the task partition
constexpr int64_t BLOCKS = ceil_div(N, WIDTH);
constexpr int64_t TASK_COUNT = PARTITION == 0 ? 1 : min_of(BLOCKS, THREADS * TASKS);
constexpr int WORKERS = static_cast<int>(min_of(THREADS, TASK_COUNT));
constexpr int64_t SUMS = ceil_div(M * ceil_div(BLOCKS, TASK_COUNT) * WIDTH, 16) * 16;  // of a thread
// Rows of B that are summed apart: one chain of 4096 additions errs almost four times as much as blocks of 256 do (rms, normal inputs).
constexpr int64_t RUN = 256;

INLINE Vec splat_a(const A_T* a, int64_t m, int64_t k) { return splat(to_acc(a[m * A_ROW + k * A_COL])); }

// B with contiguous rows: sums of all columns stay in L1 while rows of B pass, UNROLL_K of them for one pass over the sums.
static void add_rows(const A_T* a, const B_T* b, int64_t k, int64_t count, int64_t columns, ACC* sums) {
  int64_t n = 0;
  for (; n + LANES <= columns; n += LANES) {
    Vec c[M];
    UNROLLED for (int m = 0; m < M; ++m) c[m] = load(sums + m * columns + n);
    for (int64_t u = 0; u < count; ++u) {
      const Vec row = load(reinterpret_cast<const ACC*>(b) + (k + u) * B_ROW + n);
      UNROLLED for (int m = 0; m < M; ++m) c[m] += splat_a(a, m, k + u) * row;
    }
    UNROLLED for (int m = 0; m < M; ++m) store(sums + m * columns + n, c[m]);
  }
  for (; n < columns; ++n)
    for (int64_t u = 0; u < count; ++u)
      for (int m = 0; m < M; ++m) sums[m * columns + n] += to_acc(a[m * A_ROW + (k + u) * A_COL]) * b[(k + u) * B_ROW + n];
}

// B with contiguous columns: dot products along K of COLUMNS columns of B with all rows of A, a stream a column. One sum a column
// would wait four cycles for each of its additions: STREAMS sums hide that, and stay in registers.
constexpr int STREAMS = M * UNROLL_K <= 24 ? UNROLL_K : max_of(1, 24 / M);

template <int COLUMNS>
static void dot_columns(const A_T* a, const B_T* b, ACC* sums, int64_t step) {
  Vec c[M][COLUMNS];
  UNROLLED for (int m = 0; m < M; ++m) {
    UNROLLED for (int j = 0; j < COLUMNS; ++j) c[m][j] = Vec{};
  }
  int64_t k = 0;
  if constexpr (A_COL == 1) {
    for (; k + LANES <= K; k += LANES) {
      Vec column[COLUMNS];
      UNROLLED for (int j = 0; j < COLUMNS; ++j) column[j] = load(reinterpret_cast<const ACC*>(b) + j * B_COL + k);
      UNROLLED for (int m = 0; m < M; ++m) {
        const Vec row = load(reinterpret_cast<const ACC*>(a) + m * A_ROW + k);
        UNROLLED for (int j = 0; j < COLUMNS; ++j) c[m][j] += row * column[j];
      }
    }
  }
  for (int m = 0; m < M; ++m)
    for (int j = 0; j < COLUMNS; ++j) {
      ACC sum = 0;
      for (int64_t l = 0; l < LANES; ++l) sum += c[m][j][l];
      for (int64_t i = k; i < K; ++i) sum += to_acc(a[m * A_ROW + i * A_COL]) * b[j * B_COL + i];
      sums[m * step + j] = sum;
    }
}

extern "C" size_t amdahl_workspace_bytes(void) { return sizeof(ACC) * WORKERS * 2 * SUMS; }  // of all of K, of a run
extern "C" size_t amdahl_packed_bytes(int) { return 0; }
extern "C" void amdahl_pack(int, const void*, void*) {}

extern "C" void amdahl_run(const void* const* in, void* const* out, void* workspace) {
  const A_T* a = static_cast<const A_T*>(in[0]) + A_OFFSET;
#pragma omp parallel for num_threads(WORKERS) schedule(SCHEDULE)
  for (int64_t task = 0; task < TASK_COUNT; ++task) {
    const int64_t begin = task * BLOCKS / TASK_COUNT * WIDTH, end = min_of(N, (task + 1) * BLOCKS / TASK_COUNT * WIDTH);
    const int64_t columns = end - begin;
    ACC* sums = static_cast<ACC*>(workspace) + omp_get_thread_num() * 2 * SUMS;
    const B_T* b = static_cast<const B_T*>(in[1]) + B_OFFSET + begin * B_COL;
    if constexpr (B_COL == 1) {
      for (int64_t k1 = 0; k1 < K; k1 += RUN) {
        ACC* of_run = k1 == 0 ? sums : sums + SUMS;
        const int64_t k2 = min_of(k1 + RUN, K);
        for (int64_t i = 0; i < M * columns; ++i) of_run[i] = 0;
        for (int64_t k = k1; k < k2; k += UNROLL_K) add_rows(a, b, k, min_of(UNROLL_K, k2 - k), columns, of_run);
        if (k1 > 0)
          for (int64_t i = 0; i < M * columns; ++i) sums[i] += of_run[i];
      }
    } else {
      int64_t n = 0;
      for (; n + STREAMS <= columns; n += STREAMS) dot_columns<STREAMS>(a, b + n * B_COL, sums + n, columns);
      for (; n < columns; ++n) dot_columns<1>(a, b + n * B_COL, sums + n, columns);
    }
    for (int64_t m = 0; m < M; ++m) {
      C_T* row = static_cast<C_T*>(out[0]) + C_OFFSET + m * C_ROW + begin * C_COL;
#pragma omp simd
      for (int64_t n = 0; n < columns; ++n) row[n * C_COL] = finish(sums[m * columns + n], in, 0, m, begin + n);
    }
  }
}
