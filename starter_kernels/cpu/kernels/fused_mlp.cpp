// Y = act(X W1 [, X W_up]) W2: the hidden layer exists only as a block of HB columns that stays in L2, made by one product
// and consumed by the next. Weights are stored as panels of NR columns at load.
// PARTITION 1: threads share the rows, each reads all weights. PARTITION 2: threads share the hidden layer, each reads its
// part of the weights once and sums its own Y, which are added at the end.
// The prelude states sizes, strides (in elements), THREADS, the knobs, activation() and finish().

constexpr int64_t NR = NRV * LANES;
constexpr int64_t HB = min_of(ceil_div(BLOCK_H, NR), ceil_div(H, NR)) * NR;  // hidden columns of a block, whole panels
constexpr int64_t H_BLOCKS = ceil_div(H, HB), H_PANELS = ceil_div(H, NR), N_PANELS = ceil_div(N, NR), N_PADDED = N_PANELS * NR;
constexpr int64_t HIDDEN_STEP = HB + 16;  // one cache line more: rows a power of two apart would share L1 sets
// Rows of a block: as many as MC says, or where threads share rows as near to that as gives each thread as many blocks.
constexpr int64_t ROUNDS = max_of(1, (2 * M + MC * THREADS) / (2 * MC * THREADS));
constexpr int64_t ROWS = min_of(ceil_div(PARTITION == 1 ? ceil_div(M, ROUNDS * THREADS) : MC, MR) * MR, M);
constexpr int64_t ROW_BLOCKS = ceil_div(M, ROWS);
constexpr int64_t PARTS = PARTITION == 2 ? min_of(THREADS, H_BLOCKS) : 1;     // sums of Y that are added at the end
constexpr int WORKERS = static_cast<int>(PARTITION == 0 ? 1 : PARTITION == 2 ? PARTS : min_of(THREADS, ROW_BLOCKS));

// Scratch: of a thread (PARTITION 1) or a part (2).
constexpr int64_t lines(int64_t elements) { return ceil_div(elements, 16) * 16; }
constexpr int64_t SUMS = lines(ROWS * N_PADDED), SCRATCH = SUMS + lines(ROWS * HIDDEN_STEP);

// Bytes of the panel after the next that a tile fetches at each step.
constexpr int64_t FETCH = PREFETCH ? ceil_div(NR * 4, ceil_div(ROWS, MR)) : 0;

// ---- hidden block ----------------------------------------------------------------------------------------------------

struct Inputs {
  const void* const* in;
  const ACC *x, *w1, *w2, *w_up;
};

template <int COUNT>
INLINE void to_buffer(const Vec (&c)[COUNT][NRV], ACC (&tile)[COUNT][NR]) {
  UNROLLED for (int i = 0; i < COUNT; ++i) {
    UNROLLED for (int j = 0; j < NRV; ++j) store(&tile[i][j * LANES], c[i][j]);
  }
}

// Rows m … m+COUNT of hidden columns h … h+NR. `next`: how far into the weights lies what is fetched for later.
template <int COUNT>
static void hidden_tile(const Inputs& f, int64_t m, int64_t h, int64_t next, ACC* hidden) {
  alignas(64) ACC tile[COUNT][NR], up[COUNT][NR];
  {
    Vec c[COUNT][NRV];
    multiply_tile<COUNT, NRV, X_ROW, X_COL, NR, FETCH>(f.x + m * X_ROW, f.w1 + h * K, K, reinterpret_cast<const char*>(f.w1) + next, c);
    to_buffer<COUNT>(c, tile);
  }
  if constexpr (GATED) {
    Vec c[COUNT][NRV];
    multiply_tile<COUNT, NRV, X_ROW, X_COL, NR, FETCH>(f.x + m * X_ROW, f.w_up + h * K, K, reinterpret_cast<const char*>(f.w_up) + next, c);
    to_buffer<COUNT>(c, up);
  }
  const int64_t width = min_of(NR, H - h);
  for (int i = 0; i < COUNT; ++i) {
    ACC* to = hidden + i * HIDDEN_STEP;
    if (width == NR) {
#pragma omp simd
      for (int64_t n = 0; n < NR; ++n) to[n] = activation(tile[i][n], up[i][n], f.in, m + i, h + n);
    } else {
      for (int64_t n = 0; n < width; ++n) to[n] = activation(tile[i][n], up[i][n], f.in, m + i, h + n);
    }
  }
}

// ---- its contribution to Y -------------------------------------------------------------------------------------------

template <int COUNT>
static void output_tile(const ACC* hidden, const ACC* w2, int64_t depth, const char* next, bool first, ACC* sums) {
  Vec c[COUNT][NRV];
  multiply_tile<COUNT, NRV, HIDDEN_STEP, 1, NR, FETCH>(hidden, w2, depth, next, c);
  UNROLLED for (int i = 0; i < COUNT; ++i) {
    UNROLLED for (int j = 0; j < NRV; ++j) {
      ACC* to = sums + i * N_PADDED + j * LANES;
      store(to, first ? c[i][j] : c[i][j] + load(to));
    }
  }
}

template <int VALUE>
struct Constant {
  static constexpr int value = VALUE;
};

// Calls f with the number of rows as a constant, for each tile of rows 0 … count.
template <class F>
INLINE void for_row_tiles(int64_t count, F f) {
  constexpr int LEFT = M % MR;  // the matrix's last tile; blocks are whole tiles otherwise
  int64_t m = 0;
  for (; m + MR <= count; m += MR) f(Constant<MR>(), m);
  if constexpr (LEFT > 0)
    if (m < count) f(Constant<LEFT>(), m);
}

static void add_hidden_block(const Inputs& f, int64_t m0, int64_t rows, int64_t block, bool first, ACC* scratch) {
  ACC *sums = scratch, *hidden = scratch + SUMS;
  const int64_t h0 = block * HB, h1 = min_of(H, h0 + HB);
  for (int64_t h = h0; h < h1; h += NR)
    for_row_tiles(rows, [&](auto count, int64_t m) {
      const int64_t next = (h + PREFETCH * NR) * K * 4 + m / MR * K * FETCH;
      hidden_tile<decltype(count)::value>(f, m0 + m, h, next, hidden + m * HIDDEN_STEP + (h - h0));
    });
  for (int64_t n = 0; n < N; n += NR) {
    const ACC* w2 = f.w2 + n * H + h0 * NR;  // panel n / NR, from row h0 on
    for_row_tiles(rows, [&](auto count, int64_t m) {
      const char* next = reinterpret_cast<const char*>(w2 + PREFETCH * NR * H) + m / MR * (h1 - h0) * FETCH;
      output_tile<decltype(count)::value>(hidden + m * HIDDEN_STEP, w2, h1 - h0, next, first, sums + m * N_PADDED + n);
    });
  }
}

// Adds the parts' sums (in a fixed order) and writes row m of Y.
static void finish_row(const void* const* in, ACC* y, int64_t m, const ACC* sums) {
  ACC* row = y + m * Y_ROW;
#pragma omp simd
  for (int64_t n = 0; n < N; ++n) {
    ACC sum = sums[n];
    for (int64_t part = 1; part < PARTS; ++part) sum += sums[part * SCRATCH + n];
    row[n * Y_COL] = finish(sum, in, m, n);
  }
}

// ---- the interface ---------------------------------------------------------------------------------------------------

static void pack_panels(const ACC* w, int64_t row_stride, int64_t col_stride, int64_t depth, int64_t columns, ACC* to) {
  for (int64_t n = 0; n < columns; n += NR)
    for (int64_t k = 0; k < depth; ++k)
      for (int64_t i = 0; i < NR; ++i, ++to) *to = n + i < columns ? w[k * row_stride + (n + i) * col_stride] : ACC(0);
}

extern "C" size_t amdahl_workspace_bytes(void) { return sizeof(ACC) * SCRATCH * WORKERS; }

extern "C" size_t amdahl_packed_bytes(int input) {
  if (input == 1 || (GATED && input == 3)) return sizeof(ACC) * H_PANELS * NR * K;
  return input == 2 ? sizeof(ACC) * N_PADDED * H : 0;
}

extern "C" void amdahl_pack(int input, const void* raw, void* packed) {
  const ACC* w = static_cast<const ACC*>(raw);
  ACC* to = static_cast<ACC*>(packed);
  if (input == 1) pack_panels(w + W1_OFFSET, W1_ROW, W1_COL, K, H, to);
  if (input == 2) pack_panels(w + W2_OFFSET, W2_ROW, W2_COL, H, N, to);
  if (input == 3) pack_panels(w + W_UP_OFFSET, W_UP_ROW, W_UP_COL, K, H, to);
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void* workspace) {
  const Inputs f{in, static_cast<const ACC*>(in[0]) + X_OFFSET, static_cast<const ACC*>(in[1]),
                 static_cast<const ACC*>(in[2]), GATED ? static_cast<const ACC*>(in[GATED ? 3 : 0]) : nullptr};
  ACC* y = static_cast<ACC*>(out[0]) + Y_OFFSET;
  ACC* scratch = static_cast<ACC*>(workspace);
  if constexpr (PARTITION == 2) {
#pragma omp parallel num_threads(WORKERS)
    for (int64_t block = 0; block < ROW_BLOCKS; ++block) {
      const int64_t m0 = block * ROWS, rows = min_of(ROWS, M - m0);
#pragma omp for schedule(static)
      for (int64_t part = 0; part < PARTS; ++part) {
        const int64_t begin = part * H_BLOCKS / PARTS, end = (part + 1) * H_BLOCKS / PARTS;
        for (int64_t b = begin; b < end; ++b) add_hidden_block(f, m0, rows, b, b == begin, scratch + part * SCRATCH);
      }
#pragma omp for schedule(static)
      for (int64_t m = 0; m < rows; ++m) finish_row(in, y, m0 + m, scratch + m * N_PADDED);
    }
  } else {
#pragma omp parallel for num_threads(WORKERS) schedule(static)
    for (int64_t block = 0; block < ROW_BLOCKS; ++block) {
      const int64_t m0 = block * ROWS, rows = min_of(ROWS, M - m0);
      ACC* mine = scratch + omp_get_thread_num() * SCRATCH;
      for (int64_t b = 0; b < H_BLOCKS; ++b) add_hidden_block(f, m0, rows, b, b == 0, mine);
      for (int64_t m = 0; m < rows; ++m) finish_row(in, y, m0 + m, mine + m * N_PADDED);
    }
  }
}
