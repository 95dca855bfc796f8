// C[b] = A[b] * B[b], blocked for the cache levels as in BLIS: a block of NC columns and KC rows of B, cut in panels of NR
// columns that pass through L1; a block of MC rows of A that stays in L2; and a tile of MR x NR of C in registers.
// The prelude states shapes, strides (in elements), dtypes, THREADS, the knobs and finish(), which scales a sum, applies
// the epilogue and converts to the type of C; finish_lanes() does so on vectors where FINISH_VECTORS. Where several steps of K are an element
// (gemm_tile.h), A and B become so as they are packed, and what is blocked along K are such elements.

constexpr int64_t UNITS = ceil_div(K, STEPS);
constexpr int64_t A_STEPS = static_cast<int64_t>(sizeof(ACC) / sizeof(A_T));  // numbers of A in an element, where it is read as it lies
constexpr int64_t NR = NRV * LANES;
constexpr int64_t M_TILES = ceil_div(M, MR), N_TILES = ceil_div(N, NR);
constexpr int ROWS_LEFT = M % MR;                                        // rows of the last tile, 0: it is full
constexpr int VECS_LEFT = static_cast<int>(ceil_div(N % NR, LANES));     // vectors of the last tile
constexpr int64_t K_BLOCK = max_of(1, min_of(ceil_div(UNITS, SPLIT_K), KC));
constexpr int64_t M_BLOCK = min_of(ceil_div(MC, MR), M_TILES) * MR;      // whole tiles
constexpr int64_t N_BLOCK = min_of(ceil_div(NC, NR), N_TILES) * NR;
// One packed panel of a constant B holds all of K; the panels of one block of B hold K_BLOCK.
constexpr int64_t B_PANEL = (PACK_B ? UNITS : K_BLOCK) * NR;

// With SPLIT_K tasks sum over a part of K each, into matrices of their own that are added at the end: for a C too small to
// occupy the threads. Sums otherwise go to C itself.
template <bool SPLIT, class Own, class C>
struct SumType {
  typedef C type;
};
template <class Own, class C>
struct SumType<true, Own, C> {
  typedef Own type;
};
constexpr bool SPLIT = SPLIT_K > 1;
typedef SumType<SPLIT, ACC, C_T>::type S_T;
constexpr int64_t S_ROW = SPLIT ? N : C_ROW, S_COL = SPLIT ? 1 : C_COL;
constexpr int64_t K_PART = ceil_div(UNITS, SPLIT_K);
static_assert(K_PART <= K_BLOCK || SPLIT || SAME_C, "between blocks of K sums lie in C");

// ---- tasks: parts of C over threads -------------------------------------------------------------------------------

// Enough parts of a C matrix that BATCH * parts is a multiple of THREADS * TASKS.
constexpr int64_t gcd_of(int64_t a, int64_t b) { return b == 0 ? a : gcd_of(b, a % b); }
constexpr int64_t WANTED = THREADS * TASKS;
constexpr int64_t PARTS = PARTITION == 0 ? 1 : WANTED / gcd_of(BATCH, WANTED);
constexpr int64_t square_divisor(int64_t n, int64_t d) { return n % d == 0 ? d : square_divisor(n, d - 1); }
constexpr int64_t root_of(int64_t n, int64_t r) { return (r + 1) * (r + 1) > n ? r : root_of(n, r + 1); }
constexpr int64_t ROOT = square_divisor(PARTS, root_of(PARTS, 1));
constexpr int64_t PARTS_M = min_of(M_TILES, PARTITION == 1 ? 1 : PARTITION == 2 ? PARTS : ROOT);
constexpr int64_t PARTS_N = min_of(N_TILES, PARTITION == 1 ? PARTS : PARTITION == 2 ? 1 : PARTS / ROOT);
constexpr int64_t TASK_COUNT = BATCH * PARTS_M * PARTS_N * SPLIT_K;
constexpr int WORKERS = PARTITION == 0 ? 1 : static_cast<int>(min_of(THREADS, TASK_COUNT));

// Software prefetch: while a panel of B is multiplied, the one PREFETCH panels on is fetched, an equal part by each tile, so that
// weights that come from DRAM arrive before they are needed.
constexpr int64_t TILES_A_PANEL = LOOP_ORDER == 0 ? min_of(ceil_div(M_TILES, PARTS_M), M_BLOCK / MR) : 1;
constexpr int64_t FETCH = PREFETCH ? ceil_div(NR * static_cast<int64_t>(sizeof(ACC)), TILES_A_PANEL) : 0;  // bytes a step

// ---- packing -------------------------------------------------------------------------------------------------------

#if defined(PAIRS_OF_BF16) || defined(FOURS_OF_BYTES) || defined(PAIRS_OF_SHORTS)

typedef uint32_t Element __attribute__((may_alias));
#if defined(PAIRS_OF_BF16)
INLINE uint32_t bits_of(float x) { return rounded(x); }
#elif defined(FOURS_OF_BYTES)
INLINE uint32_t bits_of(int32_t x) { return static_cast<uint8_t>(x); }
#else
INLINE uint32_t bits_of(int32_t x) { return static_cast<uint16_t>(x); }
#endif

// Elements k0 … of columns n0 … n0+width of B, to [depth][NR]; what is missing to whole elements and panels is zero.
static void pack_b_panel(const B_T* b, int64_t k0, int64_t depth, int64_t n0, int64_t width, ACC* panel) {
  Element* to = reinterpret_cast<Element*>(panel);
  for (int64_t k = k0; k < k0 + depth; ++k)
    for (int64_t n = 0; n < NR; ++n, ++to) {
      *to = 0;
      for (int64_t step = 0; step < STEPS; ++step)
        if (const int64_t at = STEPS * k + step; at < K && n < width) *to |= bits_of(b[at * B_ROW + (n0 + n) * B_COL]) << (32 / STEPS * step);
    }
}

// A line beyond a block's rows: rows a power of two apart would share their places in L1.
constexpr int64_t BLOCK_ROW = ceil_div(K_BLOCK, 16) * 16 + 16, BLOCK_COL = 1;
constexpr int64_t a_panel_size(int64_t) { return MR * BLOCK_ROW; }

#ifdef PAIRS_OF_BF16
// Rows m0 … m0+rows of A to rows of pairs.
static void pack_a_block(const A_T* a, int64_t m0, int64_t rows, int64_t k0, int64_t depth, ACC* block) {
  for (int64_t m = m0; m < m0 + rows; ++m, block += BLOCK_ROW) {
    Element* to = reinterpret_cast<Element*>(block);
    const A_T* from = a + m * A_ROW;
    const int64_t end = k0 + depth;
    int64_t k = k0;
    if constexpr (A_COL == 1)
      for (; k + 16 <= end && 2 * k + 32 <= K; k += 16, to += 16) store(reinterpret_cast<ACC*>(to), rounded_32(load(from + 2 * k), load(from + 2 * k + 16)));
    for (; k < end; ++k) *to++ = rounded(from[2 * k * A_COL]) | (2 * k + 1 < K ? rounded(from[(2 * k + 1) * A_COL]) << 16 : 0);
  }
}
#else
// Rows m0 … m0+rows of A to rows of numbers, as many in an element as it has steps.
static void pack_a_block(const A_T* a, int64_t m0, int64_t rows, int64_t k0, int64_t depth, ACC* block) {
#ifdef FOURS_OF_BYTES
  typedef A_T Number __attribute__((may_alias));
#else
  typedef int16_t Number __attribute__((may_alias));
#endif
  const int64_t known = min_of(K - STEPS * k0, STEPS * depth);
  for (int64_t m = m0; m < m0 + rows; ++m, block += BLOCK_ROW) {
    Number* to = reinterpret_cast<Number*>(block);
    const A_T* from = a + m * A_ROW + STEPS * k0 * A_COL;
    for (int64_t k = 0; k < known; ++k) to[k] = static_cast<Number>(from[k * A_COL]);
    for (int64_t k = known; k < STEPS * depth; ++k) to[k] = 0;
  }
}
#endif

#else

// Columns n0 … n0+width of B, rows k0 … k0+depth, to [depth][NR]; columns beyond the width are zero.
static void pack_b_panel(const B_T* b, int64_t k0, int64_t depth, int64_t n0, int64_t width, ACC* panel) {
  const B_T* from = b + k0 * B_ROW + n0 * B_COL;
  if (width < NR)
    for (int64_t i = 0; i < depth * NR; ++i) panel[i] = ACC(0);
  if constexpr (B_COL == 1) {
    if (width == NR) {
      for (int64_t k = 0; k < depth; ++k)
        for (int64_t n = 0; n < NR; ++n) panel[k * NR + n] = to_acc(from[k * B_ROW + n]);
    } else {
      for (int64_t k = 0; k < depth; ++k)
        for (int64_t n = 0; n < width; ++n) panel[k * NR + n] = to_acc(from[k * B_ROW + n]);
    }
  } else {  // transposed: read along k, 16 steps of one cache line at a time
    for (int64_t k1 = 0; k1 < depth; k1 += 16)
      for (int64_t n = 0; n < width; ++n)
        for (int64_t k = k1; k < min_of(k1 + 16, depth); ++k)
          panel[k * NR + n] = to_acc(from[k * B_ROW + n * B_COL]);
  }
}

constexpr int64_t BLOCK_ROW = 1, BLOCK_COL = MR;
constexpr int64_t a_panel_size(int64_t depth) { return MR * depth; }

// Rows m0 … m0+rows of A to panels of MR rows, [panel][depth][MR]. The last panel's missing rows are never read.
static void pack_a_block(const A_T* a, int64_t m0, int64_t rows, int64_t k0, int64_t depth, ACC* block) {
  for (int64_t i0 = 0; i0 < rows; i0 += MR, block += depth * MR) {
    const A_T* from = a + (m0 + i0) * A_ROW + k0 * A_COL;
    const int64_t count = min_of(MR, rows - i0);
    if (count == MR) {
      for (int64_t k = 0; k < depth; ++k)
        for (int64_t i = 0; i < MR; ++i) block[k * MR + i] = to_acc(from[i * A_ROW + k * A_COL]);
    } else {
      for (int64_t k = 0; k < depth; ++k)
        for (int64_t i = 0; i < count; ++i) block[k * MR + i] = to_acc(from[i * A_ROW + k * A_COL]);
    }
  }
}

#endif

// ---- one tile of C -------------------------------------------------------------------------------------------------

struct Place {
  int64_t batch, m, n;  // the tile's first element
  int64_t columns;      // <= NR
  bool first, last;     // of the blocks of K
};

constexpr bool PLAIN = S_COL == 1 && (SPLIT || SAME_C);  // sums are stored as they are, side by side

// The lines of C and of what the epilogue reads are asked for while the tile is multiplied: a tile's rows lie pages apart, where the
// hardware fetches nothing ahead (2 to 3% of 197 x 3072 x 768 on Cascade Lake).
template <int ROWS, int VECS>
INLINE void prefetch_tile(const void* const* in, const S_T* c, const Place& at) {
  constexpr int64_t WIDTH = VECS * LANES, LINE = 64 / static_cast<int64_t>(sizeof(ACC));
  UNROLLED for (int i = 0; i < ROWS; ++i) {
    UNROLLED for (int64_t n = 0; n < WIDTH; n += LINE) {
      if constexpr (PLAIN) __builtin_prefetch(c + i * S_ROW + n, 1);
      if constexpr (FINISH && !SPLIT)
        if (at.last) prefetch_for_finish(in, at.batch, at.m + i, at.n + n);
    }
  }
}

// Sums to C. C is read only where an earlier block of K wrote it: before that it may hold anything, NaN included.
template <int ROWS, int VECS>
INLINE void store_tile(Vec (&sum)[ROWS][VECS], const void* const* in, S_T* c, const Place& at) {
  const bool finishes = FINISH && !SPLIT && at.last;
  if (PLAIN && at.columns == VECS * LANES && (!finishes || FINISH_VECTORS)) {
    if (!at.first) {
      UNROLLED for (int i = 0; i < ROWS; ++i) {
        UNROLLED for (int j = 0; j < VECS; ++j) sum[i][j] += load(reinterpret_cast<const ACC*>(c + i * S_ROW) + j * LANES);
      }
    }
    if (finishes) {
      UNROLLED for (int i = 0; i < ROWS; ++i) {
        UNROLLED for (int j = 0; j < VECS; ++j) sum[i][j] = (Vec)finish_lanes((lanes)sum[i][j], in, at.batch, at.m + i, at.n + j * LANES);
      }
    }
    UNROLLED for (int i = 0; i < ROWS; ++i) {
      UNROLLED for (int j = 0; j < VECS; ++j) store(reinterpret_cast<ACC*>(c + i * S_ROW) + j * LANES, sum[i][j]);
    }
    return;
  }
#ifdef VECTOR_EPILOGUE
  if (at.first && at.last && at.columns == VECS * LANES) {
    const Inputs inputs(in);
    const Place place = at;
    UNROLLED for (int i = 0; i < ROWS; ++i) {
      const RowValues values = values_of_row(inputs.of, place.batch, place.m + i);
      UNROLLED for (int j = 0; j < VECS; ++j)
        write_vector(reinterpret_cast<C_T*>(c + i * S_ROW) + j * LANES, finish_sums(sum[i][j], values, inputs.of, place.batch, place.m + i, place.n + j * LANES));
    }
    return;
  }
#endif
  alignas(64) ACC tile[ROWS][VECS * LANES];
  UNROLLED for (int i = 0; i < ROWS; ++i) {
    UNROLLED for (int j = 0; j < VECS; ++j) *reinterpret_cast<Vec*>(&tile[i][j * LANES]) = sum[i][j];
  }
  for (int i = 0; i < ROWS; ++i) {
    S_T* row = c + i * S_ROW;
    if (!at.first)
      for (int64_t n = 0; n < at.columns; ++n) tile[i][n] += to_acc(row[n * S_COL]);
    if constexpr (SPLIT) {
      for (int64_t n = 0; n < at.columns; ++n) row[n] = tile[i][n];
    } else if (!at.last) {
      for (int64_t n = 0; n < at.columns; ++n) row[n * C_COL] = from_acc(tile[i][n]);
    } else {
      const Inputs inputs(in);
      const Place place = at;  // stores of bytes may alias what `at` refers to, too
      if (place.columns == VECS * LANES) {
#pragma omp simd
        for (int64_t n = 0; n < VECS * LANES; ++n) row[n * C_COL] = finish(tile[i][n], inputs.of, place.batch, place.m + i, place.n + n);
      } else {
        for (int64_t n = 0; n < place.columns; ++n) row[n * C_COL] = finish(tile[i][n], inputs.of, place.batch, place.m + i, place.n + n);
      }
    }
  }
}

template <int ROWS, int VECS>
static void compute_tile(const ACC* a, const ACC* b, int64_t depth, const char* next, const void* const* in, S_T* c,
                         const Place& at) {
  constexpr int64_t row = PACK_A ? BLOCK_ROW : A_ROW / A_STEPS, column = PACK_A ? BLOCK_COL : A_COL;  // in elements
  prefetch_tile<ROWS, VECS>(in, c, at);
  Vec sum[ROWS][VECS];
  multiply_tile<ROWS, VECS, row, column, NR, FETCH>(a, b, depth, next, sum);
  store_tile<ROWS, VECS>(sum, in, c, at);
}

// ---- one task: rows m_begin … m_end of columns n_begin … n_end -------------------------------------------------------

struct Task {
  int64_t batch, m_begin, m_end, n_begin, n_end, k_begin, k_end;
};

// `c`: the task's matrix, C or its own sums.
static void run_task(const void* const* in, S_T* c, const Task& task, ACC* a_block, ACC* b_block) {
  const A_T* a = static_cast<const A_T*>(in[0]) + A_OFFSET + a_batch(task.batch);
  const B_T* b = static_cast<const B_T*>(in[1]) + (PACK_B ? 0 : B_OFFSET + b_batch(task.batch));
  if constexpr (PACK_B) {
    if (B_BATCHED) b = reinterpret_cast<const B_T*>(static_cast<const ACC*>(in[1]) + task.batch * N_TILES * B_PANEL);
  }

  for (int64_t n1 = task.n_begin; n1 < task.n_end; n1 += N_BLOCK) {
    const int64_t n2 = min_of(n1 + N_BLOCK, task.n_end);
    for (int64_t k1 = task.k_begin; k1 < task.k_end; k1 += K_BLOCK) {
      const int64_t depth = min_of(K_BLOCK, task.k_end - k1);
      const ACC* b_panels;
      if constexpr (PACK_B) {
        b_panels = reinterpret_cast<const ACC*>(b) + n1 / NR * B_PANEL + k1 * NR;
      } else {
        for (int64_t n = n1; n < n2; n += NR)
          pack_b_panel(b, k1, depth, n, min_of(NR, n2 - n), b_block + (n - n1) / NR * B_PANEL);
        b_panels = b_block;
      }
      for (int64_t m1 = task.m_begin; m1 < task.m_end; m1 += M_BLOCK) {
        const int64_t m2 = min_of(m1 + M_BLOCK, task.m_end);
        if constexpr (PACK_A) pack_a_block(a, m1, m2 - m1, k1, depth, a_block);

        const auto tile = [&](int64_t m, int64_t n) {
          const ACC* a_tile;
          if constexpr (PACK_A) a_tile = a_block + (m - m1) / MR * a_panel_size(depth);
          else a_tile = reinterpret_cast<const ACC*>(a + m * A_ROW + k1 * A_STEPS * A_COL);
          const ACC* b_tile = b_panels + (n - n1) / NR * B_PANEL;
          const char* next = reinterpret_cast<const char*>(b_tile + PREFETCH * B_PANEL) +
                             (LOOP_ORDER == 0 ? (m - m1) / MR * depth * FETCH : 0);
          const Place at{task.batch, m, n, min_of(NR, N - n), k1 == task.k_begin, k1 + depth >= task.k_end};
          S_T* to = c + m * S_ROW + n * S_COL;
          const bool short_rows = ROWS_LEFT > 0 && m + MR > M, short_columns = VECS_LEFT > 0 && n + NR > N;
          if (!short_rows && !short_columns) compute_tile<MR, NRV>(a_tile, b_tile, depth, next, in, to, at);
          if constexpr (ROWS_LEFT > 0)
            if (short_rows && !short_columns) compute_tile<ROWS_LEFT, NRV>(a_tile, b_tile, depth, next, in, to, at);
          if constexpr (VECS_LEFT > 0)
            if (!short_rows && short_columns) compute_tile<MR, VECS_LEFT>(a_tile, b_tile, depth, next, in, to, at);
          if constexpr (ROWS_LEFT > 0 && VECS_LEFT > 0)
            if (short_rows && short_columns) compute_tile<ROWS_LEFT, VECS_LEFT>(a_tile, b_tile, depth, next, in, to, at);
        };
        if constexpr (LOOP_ORDER == 0) {  // a panel of B stays in L1 while A streams from L2
          for (int64_t n = n1; n < n2; n += NR)
            for (int64_t m = m1; m < m2; m += MR) tile(m, n);
        } else {  // a panel of A stays in L1 while B streams
          for (int64_t m = m1; m < m2; m += MR)
            for (int64_t n = n1; n < n2; n += NR) tile(m, n);
        }
      }
    }
  }
}

// ---- the interface -------------------------------------------------------------------------------------------------

// Scratch: the sums of a split K, then the blocks of each thread; in whole cache lines.
constexpr int64_t lines(int64_t elements) { return ceil_div(elements, 16) * 16; }
constexpr int64_t SUMS_SIZE = SPLIT ? lines(SPLIT_K * BATCH * M * N) : 0;
constexpr int64_t A_BLOCK_SIZE = PACK_A ? lines(M_BLOCK / MR * a_panel_size(K_BLOCK)) : 0;
constexpr int64_t B_BLOCK_SIZE = PACK_B ? 0 : lines(N_BLOCK * K_BLOCK);

extern "C" size_t amdahl_workspace_bytes(void) {
  return sizeof(ACC) * (SUMS_SIZE + WORKERS * (A_BLOCK_SIZE + B_BLOCK_SIZE));
}

extern "C" size_t amdahl_packed_bytes(int input) {
  return PACK_B && input == 1 ? sizeof(ACC) * (B_BATCHED ? BATCH : 1) * N_TILES * B_PANEL : 0;
}

extern "C" void amdahl_pack(int, const void* raw, void* packed) {
  if constexpr (PACK_B) {
#pragma omp parallel for collapse(2) num_threads(THREADS) schedule(static)
    for (int64_t batch = 0; batch < (B_BATCHED ? BATCH : 1); ++batch)
      for (int64_t j = 0; j < N_TILES; ++j)
        pack_b_panel(static_cast<const B_T*>(raw) + B_OFFSET + b_batch(batch), 0, UNITS, j * NR, min_of(NR, N - j * NR),
                     static_cast<ACC*>(packed) + (batch * N_TILES + j) * B_PANEL);
  }
}

static S_T* matrix_of(void* const* out, ACC* sums, int64_t k_part, int64_t batch) {
  if (SPLIT) return reinterpret_cast<S_T*>(sums + (k_part * BATCH + batch) * M * N);
  return reinterpret_cast<S_T*>(static_cast<C_T*>(out[0]) + C_OFFSET + c_batch(batch));
}

// C from the sums of the parts of K, added in a fixed order.
static void finish_split(const void* const* in, void* const* out, const ACC* sums) {
#pragma omp parallel for num_threads(WORKERS) schedule(static)
  for (int64_t r = 0; r < BATCH * M; ++r) {
    const int64_t batch = r / M, m = r % M;
    C_T* row = static_cast<C_T*>(out[0]) + C_OFFSET + c_batch(batch) + m * C_ROW;
#pragma omp simd
    for (int64_t n = 0; n < N; ++n) {
      ACC sum = sums[r * N + n];
      for (int64_t part = 1; part < SPLIT_K; ++part) sum += sums[(part * BATCH * M + r) * N + n];
      row[n * C_COL] = finish(sum, in, batch, m, n);
    }
  }
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void* workspace) {
  ACC* sums = static_cast<ACC*>(workspace);
#pragma omp parallel for num_threads(WORKERS) schedule(SCHEDULE)
  for (int64_t t = 0; t < TASK_COUNT; ++t) {
    const int64_t pk = t % SPLIT_K, part = t / SPLIT_K;
    const int64_t batch = part / (PARTS_M * PARTS_N), pm = part / PARTS_N % PARTS_M, pn = part % PARTS_N;
    ACC* mine = sums + SUMS_SIZE + omp_get_thread_num() * (A_BLOCK_SIZE + B_BLOCK_SIZE);
    const Task task{batch, pm * M_TILES / PARTS_M * MR, min_of(M, (pm + 1) * M_TILES / PARTS_M * MR),
                    pn * N_TILES / PARTS_N * NR, min_of(N, (pn + 1) * N_TILES / PARTS_N * NR),
                    pk * K_PART, min_of(UNITS, (pk + 1) * K_PART)};
    run_task(in, matrix_of(out, sums, pk, batch), task, mine, mine + A_BLOCK_SIZE);
  }
  if constexpr (SPLIT) finish_split(in, out, sums);
}
