// C = A * B by Strassen's recursion ("Gaussian elimination is not optimal", 1969), LEVELS of it: seven products of halves instead of eight,
// 49 of quarters instead of 64. B is a constant: its sums of blocks are made and laid out as panels at load. Those of A, M x K numbers,
// are made at every call, by each thread for itself; and the products' tiles are added to blocks of C that stay in L1 or L2. Of 128 x 768 x 768
// halved twice, 0.89 ms on two cores of Zen 3, the sums take 0.09 and the blocks of C 8%; a quarter of the products (15 of 64) is saved. Of
// sums in bfloat16, 0.30 ms on Zen 4, they take 0.015 (0.045 as loops over a row at a time).
//
//   P1 = (A11 + A22)(B11 + B22)   P2 = (A21 + A22) B11   P3 = A11 (B12 - B22)   P4 = A22 (B21 - B11)
//   P5 = (A11 + A12) B22          P6 = (A21 - A11)(B11 + B12)                   P7 = (A12 - A22)(B21 + B22)
//   C11 = P1 + P4 - P5 + P7       C12 = P3 + P5       C21 = P2 + P4             C22 = P1 - P2 + P3 + P6
//
// An element of C rounds relative to products of all blocks: the problem declares it (params["declared"] = "strassen"), and the
// oracle bounds that. Rows, columns and steps that a last block lacks are zeros. The prelude is that of matmul.cpp; where PAIRS_OF_BF16
// is defined, the sums are made in fp32 and rounded to bfloat16 once, and what is multiplied and counted along K are pairs of a block's steps.
// Where ON_BLOCKS is defined, a 1x1 convolution on channel blocks: rows are pixels, LANES channels of a pixel lie side by side and the next ones
// M vectors further, in A and in C, and no block lacks a channel.

struct Half {
  int first, second, sign;   // quadrants 0: 11, 1: 12, 2: 21, 3: 22; sign of the second, 0: there is none
};
constexpr Half OF_A[7] = {{0, 3, 1}, {2, 3, 1}, {0, 0, 0}, {3, 0, 0}, {0, 1, 1}, {2, 0, -1}, {1, 3, -1}};
constexpr Half OF_B[7] = {{0, 3, 1}, {0, 0, 0}, {1, 3, -1}, {2, 0, -1}, {3, 0, 0}, {0, 1, 1}, {2, 3, 1}};
constexpr int TO_C[4][7] = {{1, 0, 0, 1, -1, 0, 1}, {0, 0, 1, 0, 1, 0, 0}, {0, 1, 0, 1, 0, 0, 0}, {1, -1, 1, 0, 0, 1, 0}};

// A product's number has a digit of base 7 for each level, a block's one of base 4 (the quadrant), the outermost level's first.
constexpr int power(int base, int exponent) { return exponent == 0 ? 1 : base * power(base, exponent - 1); }
constexpr int PRODUCTS = power(7, LEVELS), BLOCKS = power(4, LEVELS), SIDE = power(2, LEVELS);
constexpr int64_t block_row(int block) { return block == 0 ? 0 : 2 * block_row(block / 4) + block % 4 / 2; }
constexpr int64_t block_column(int block) { return block == 0 ? 0 : 2 * block_column(block / 4) + block % 2; }
constexpr int sign_in_c(int product, int block, int levels = LEVELS) {
  return levels == 0 ? 1 : TO_C[block % 4][product % 7] * sign_in_c(product / 7, block / 4, levels - 1);
}

// The blocks of C that a product belongs to: at each level two at most.
struct Targets {
  int count;
  struct {
    int block, sign;
    bool first;   // no earlier product was added to the block; its sign is always +
  } at[power(2, LEVELS)];
};
struct AllTargets {
  Targets of[PRODUCTS];
};
constexpr AllTargets all_targets() {
  AllTargets all = {};
  for (int block = 0; block < BLOCKS; ++block)
    for (int product = 0, earlier = 0; product < PRODUCTS; ++product)
      if (const int sign = sign_in_c(product, block); sign != 0) {
        Targets& targets = all.of[product];
        targets.at[targets.count++] = {block, sign, earlier++ == 0};
      }
  return all;
}
constexpr AllTargets TARGETS = all_targets();

#ifdef ON_BLOCKS
constexpr bool BLOCKED = true;
#else
constexpr bool BLOCKED = false;
#endif
constexpr int64_t NR = NRV * LANES;
constexpr int64_t BLOCK_M = ceil_div(M, SIDE), BLOCK_K = ceil_div(K, SIDE), BLOCK_N = ceil_div(N, SIDE);
constexpr int64_t PANELS = ceil_div(BLOCK_N, NR);
// What threads share: columns of C (PARTITION 1: each reads a part of B and makes all sums of A) or rows of its blocks (2: each makes a part of the
// sums and reads all of B).
constexpr int64_t ROW_TASKS = PARTITION == 2 ? min_of(BLOCK_M, THREADS * TASKS) : 1, COLUMN_TASKS = PARTITION == 2 ? 1 : min_of(PANELS, THREADS * TASKS);
// Rows of each block that pass together, PASSES times a task: their sums of A and blocks of C are to fit L2.
constexpr int64_t PASSES = ceil_div(ceil_div(BLOCK_M, MB), ROW_TASKS), PASS_M = ceil_div(BLOCK_M, PASSES * ROW_TASKS);
// Tiles of MR rows at most, as even as can be: of 25 rows 7, 6, 6 and 6, not 8, 8, 8 and 1 whose FMAs would wait for each other.
constexpr int64_t TILES = ceil_div(PASS_M, MR), TILE_M = ceil_div(PASS_M, TILES), FULL_TILES = PASS_M - TILES * (TILE_M - 1);
constexpr int64_t UNITS = ceil_div(BLOCK_K, STEPS), PART_K = min_of(KC, UNITS), PARTS = ceil_div(UNITS, PART_K);
// B: [group of panels][part of K][product][panel][unit of K][NR]. A part of a sum of A is used by all panels of a group, NB at most, before
// the next one: together they do not fit L2 (197 x 768, one level: 1.1 MiB). Groups are as even as can be, and each task has as many.
constexpr int64_t GROUPS = min_of(PANELS, ceil_div(ceil_div(PANELS, NB), COLUMN_TASKS) * COLUMN_TASKS), B_PANEL = PRODUCTS * UNITS * NR;
constexpr int64_t first_panel(int64_t group) { return group * PANELS / GROUPS; }
// A: [part of K][product][row][PART_K], rows an odd number of cache lines apart, so that a tile's rows lie in different sets of L1.
// Made by all threads together, they came out of the other core's L2: 0.25 ms of 1.1 for 128 x 768 x 768 on Zen 3, where all of them are made in
// 0.06. Those of an outermost half are made just before its products: seven of quarters fit L2, 49 do not (197 x 3072 x 768 on Zen 4, parts of 768
// steps: 4.15 ms with all 49 before the first product, 3.51 so). They are kept where other groups of the task want them again.
constexpr int64_t PART_STEPS = PART_K * STEPS, A_STEP = ceil_div(PART_K, 32) * 32 + 16, A_PART = PASS_M * A_STEP + 16;
constexpr int64_t SUMS_OF_HALF = PRODUCTS / 7 * A_PART, KEPT_HALVES = GROUPS > COLUMN_TASKS ? 7 * PARTS : 1, A_SUMS = KEPT_HALVES * SUMS_OF_HALF;
constexpr int64_t C_BLOCK = PASS_M * NR, C_PANEL = BLOCKS * C_BLOCK, C_SUMS = ceil_div(PANELS, GROUPS) * C_PANEL;
constexpr int WORKERS = static_cast<int>(min_of(THREADS, ROW_TASKS * COLUMN_TASKS));

// Software prefetch: while one product's panel passes the tiles, the next one's (it follows in memory) is fetched in equal parts.
constexpr int64_t FETCH = PREFETCH ? ceil_div(NR * 4, TILES) : 0;  // bytes a step

extern "C" size_t amdahl_workspace_bytes(void) { return 4 * WORKERS * (A_SUMS + C_SUMS); }
extern "C" size_t amdahl_packed_bytes(int input) { return input == 1 ? 4 * PANELS * B_PANEL : 0; }

// The sum that `half` names of two rows.
static void add_rows(const Half& half, const float* first, const float* second, int64_t size, float* to) {
  if (half.sign == 0) {
    for (int64_t i = 0; i < size; ++i) to[i] = first[i];
  } else if (half.sign > 0) {
    for (int64_t i = 0; i < size; ++i) to[i] = first[i] + second[i];
  } else {
    for (int64_t i = 0; i < size; ++i) to[i] = first[i] - second[i];
  }
}

// NR columns from n on of row k of the sum that a product takes of B's blocks. Its last LEVEL digits and the block's first ones are still to come.
template <int LEVEL>
static void pack_row(const float* b, int product, int block, int64_t k, int64_t n, float* to) {
  if constexpr (LEVEL == 0) {
    const int64_t row = block_row(block) * BLOCK_K + k, column = block_column(block) * BLOCK_N + n;
    const int64_t count = k < BLOCK_K && row < K ? min_of(min_of(NR, BLOCK_N - n), N - column) : 0;
    int64_t i = 0;
    for (; i < count; ++i) to[i] = b[row * B_ROW + (column + i) * B_COL];
    for (; i < NR; ++i) to[i] = 0;
  } else {
    const Half& half = OF_B[product % 7];
    constexpr int DIGIT = power(4, LEVELS - LEVEL);
    float first[NR], second[NR];
    pack_row<LEVEL - 1>(b, product / 7, block + half.first * DIGIT, k, n, first);
    if (half.sign != 0) pack_row<LEVEL - 1>(b, product / 7, block + half.second * DIGIT, k, n, second);
    add_rows(half, first, second, NR, to);
  }
}

// NR columns from n on of a unit of K.
static void pack_unit(const float* b, int product, int64_t unit, int64_t n, float* to) {
#ifdef PAIRS_OF_BF16
  float even[NR], odd[NR];
  pack_row<LEVELS>(b, product, 0, 2 * unit, n, even);
  pack_row<LEVELS>(b, product, 0, 2 * unit + 1, n, odd);
  for (int64_t i = 0; i < NR; ++i) reinterpret_cast<Pair*>(to)[i] = rounded(even[i]) | rounded(odd[i]) << 16;
#else
  pack_row<LEVELS>(b, product, 0, unit, n, to);
#endif
}

extern "C" void amdahl_pack(int, const void* raw, void* packed) {
  const float* b = static_cast<const float*>(raw) + B_OFFSET;
#pragma omp parallel for num_threads(THREADS) schedule(static)
  for (int64_t g = 0; g < GROUPS; ++g) {
    float* to = static_cast<float*>(packed) + first_panel(g) * B_PANEL;
    for (int64_t k1 = 0; k1 < UNITS; k1 += PART_K)
      for (int product = 0; product < PRODUCTS; ++product)
        for (int64_t n = first_panel(g) * NR; n < first_panel(g + 1) * NR; n += NR)
          for (int64_t k = k1; k < min_of(k1 + PART_K, UNITS); ++k, to += NR) pack_unit(b, product, k, n, to);
  }
}

// What fills a vector of units: so many neighbouring steps are summed together, in registers.
constexpr int64_t CHUNK = LANES * STEPS;
struct Chunk {
  Vec part[STEPS];
};

INLINE Chunk sum_of(const Half& half, const Chunk& first, const Chunk& second) {
  Chunk sum = first;
  UNROLLED for (int i = 0; i < STEPS; ++i) {
    if (half.sign > 0) sum.part[i] += second.part[i];
    if (half.sign < 0) sum.part[i] -= second.part[i];
  }
  return sum;
}

INLINE Vec units_of(const Chunk& sum) {
#ifdef PAIRS_OF_BF16
  return rounded_32(sum.part[0], sum.part[1]);
#else
  return sum.part[0];
#endif
}

// From chunks of 4^LEVEL blocks those of the sums of 7^LEVEL products, A_PART apart. HALF: the first of the outermost level's seven.
template <int LEVEL, int HALF = 0>
INLINE void sum_blocks(const Chunk* x, float* to);

// Of one HALF alone.
template <int LEVEL, int HALF>
INLINE void sum_half(const Chunk* x, float* to) {
  constexpr int INNER = power(4, LEVEL - 1);
  constexpr Half half = OF_A[HALF];
  Chunk sums[INNER];
  UNROLLED for (int q = 0; q < INNER; ++q) sums[q] = sum_of(half, x[half.first * INNER + q], x[half.second * INNER + q]);
  sum_blocks<LEVEL - 1>(sums, to);
}

template <int LEVEL, int HALF>
INLINE void sum_blocks(const Chunk* x, float* to) {
  if constexpr (LEVEL == 0) {
    store(to, units_of(*x));
  } else {
    sum_half<LEVEL, HALF>(x, to);
    if constexpr (HALF < 6) sum_blocks<LEVEL, HALF + 1>(x, to + power(7, LEVEL - 1) * A_PART);
  }
}

// Of each block q the chunk at from[q] + at: its sums for the products of an outermost HALF.
template <int HALF>
INLINE void sum_chunk(const float* const* from, int64_t at, float* to) {
  Chunk chunks[BLOCKS];
  for (int q = 0; q < BLOCKS; ++q)
    UNROLLED for (int p = 0; p < STEPS; ++p) chunks[q].part[p] = load(from[q] + at + p * LANES);
  sum_half<LEVELS, HALF>(chunks, to);
}

// The sums of A for the products of an outermost HALF, of a pass's rows (from row m1 of each block) and the part of K that begins at step k1. Whole
// chunks are summed: what lies beyond the part is not multiplied, and rows beyond a block's last are not written.
template <int HALF>
static void sum_part(const float* a, int64_t m1, int64_t k1, float* to) {
  const int64_t held = min_of(PART_STEPS, BLOCK_K - k1), size = ceil_div(held, CHUNK) * CHUNK;
  const float* rows[BLOCKS];
  int64_t m = m1;
  if constexpr (BLOCKED) {  // a vector of channels of one pixel after another, as they lie in memory; a last half's missing pixels are left to what follows
    const int64_t pixels = min_of(PASS_M, M - (SIDE - 1) * BLOCK_M - m1);
    for (int64_t i = 0; i < size; i += LANES) {
      for (int q = 0; q < BLOCKS; ++q) rows[q] = a + ((block_column(q) * BLOCK_K + k1 + i) / LANES * M + block_row(q) * BLOCK_M + m1) * LANES;
      for (int64_t pixel = 0; pixel < pixels; ++pixel) sum_chunk<HALF>(rows, pixel * LANES, to + pixel * A_STEP + i);
    }
    m += max_of(pixels, 0), to += max_of(pixels, 0) * A_STEP;
  }
  float copies[BLOCKS][ceil_div(PART_STEPS, CHUNK) * CHUNK];
  for (; m < m1 + PASS_M; ++m, to += A_STEP) {
    for (int q = 0; q < BLOCKS; ++q) {
      const int64_t row = block_row(q) * BLOCK_M + m, k = block_column(q) * BLOCK_K + k1, count = row < M ? min_of(held, K - k) : 0;
      const float* from = BLOCKED ? a + (k / LANES * M + row) * LANES : a + row * A_ROW + k * A_COL;
      if (!BLOCKED && A_COL == 1 && row < M && k + size <= K && held % STEPS == 0) {
        rows[q] = from;
        continue;
      }
      int64_t i = 0;
      for (; i < count; ++i) copies[q][i] = from[BLOCKED ? i / LANES * M * LANES + i % LANES : i * A_COL];
      for (; i < size; ++i) copies[q][i] = 0;
      rows[q] = copies[q];
    }
    for (int64_t i = 0; i < size; i += CHUNK) sum_chunk<HALF>(rows, i, to + i / STEPS);
  }
}
constexpr void (*SUM_PART[7])(const float*, int64_t, int64_t, float*) = {sum_part<0>, sum_part<1>, sum_part<2>, sum_part<3>, sum_part<4>, sum_part<5>, sum_part<6>};

// ROWS x NR sums of a product, to the blocks of C that it belongs to; the first one of a block is stored.
template <int ROWS>
INLINE void compute_tile(const float* a, const float* b, int64_t depth, const char* next, const Targets& targets, bool first_part, float* sums) {
  Vec sum[ROWS][NRV];
  multiply_tile<ROWS, NRV, A_STEP, 1, NR, FETCH>(a, b, depth, next, sum);
  for (int t = 0; t < targets.count; ++t) {
    float* to = sums + targets.at[t].block * C_BLOCK;
    if (targets.at[t].first && first_part) {
      UNROLLED for (int i = 0; i < ROWS * NRV; ++i) store(to + i * LANES, sum[i / NRV][i % NRV]);
    } else if (targets.at[t].sign > 0) {
      UNROLLED for (int i = 0; i < ROWS * NRV; ++i) store(to + i * LANES, load(to + i * LANES) + sum[i / NRV][i % NRV]);
    } else {
      UNROLLED for (int i = 0; i < ROWS * NRV; ++i) store(to + i * LANES, load(to + i * LANES) - sum[i / NRV][i % NRV]);
    }
  }
}

// A product's part of K, for a panel of columns.
static void add_product(const float* a, const float* b, int64_t depth, const Targets& targets, bool first_part, float* sums) {
  const char* next = reinterpret_cast<const char*>(b + depth * NR);
  for (int64_t tile = 0; tile < TILES; ++tile, next += depth * FETCH) {
    const int64_t m = tile * TILE_M - max_of(0, tile - FULL_TILES);
    if (tile < FULL_TILES) compute_tile<TILE_M>(a + m * A_STEP, b, depth, next, targets, first_part, sums + m * NR);
    else if constexpr (TILE_M > 1) compute_tile<TILE_M - 1>(a + m * A_STEP, b, depth, next, targets, first_part, sums + m * NR);
  }
}

// A row of a block to C, `columns` of it from column n.
static void finish_row(const void* const* in, float* c, const float* sums, int64_t m, int64_t n, int64_t columns) {
#ifdef ON_BLOCKS
  for (int64_t i = 0, block = n / LANES; i < columns; i += LANES, ++block) finish_block(sums + i, c + (block * M + m) * LANES, in, 0, block, m);
#else
  float* row = c + m * C_ROW + n * C_COL;
  int64_t i = 0;
  if constexpr (C_COL == 1 && FINISH_VECTORS)
    for (; i + LANES <= columns; i += LANES) store(row + i, (Vec)finish_lanes((lanes)load(sums + i), in, 0, m, n + i));
  for (; i < columns; ++i) row[i * C_COL] = finish(sums[i], in, 0, m, n + i);
#endif
}

// A group's columns of a pass's rows of C, which begin at row m1 of each block. `first_of_task`: the sums of A are still to be made.
static void run_group(const void* const* in, float* c, int64_t group, int64_t m1, bool first_of_task, float* room) {
  const int64_t first = first_panel(group), panels = first_panel(group + 1) - first;
  const float *a = static_cast<const float*>(in[0]) + A_OFFSET, *b = static_cast<const float*>(in[1]) + first * B_PANEL;
  float* sums = room + A_SUMS;
  for (int64_t part = 0; part < PARTS; ++part) {
    const int64_t k1 = part * PART_K, depth = min_of(PART_K, UNITS - k1);
    for (int half = 0; half < 7; ++half) {
      float* of_a = room + (part * 7 + half) % KEPT_HALVES * SUMS_OF_HALF;
      if (first_of_task) SUM_PART[half](a, m1, k1 * STEPS, of_a);
      for (int product = half * PRODUCTS / 7; product < (half + 1) * PRODUCTS / 7; ++product, of_a += A_PART)
        for (int64_t p = 0; p < panels; ++p, b += depth * NR) add_product(of_a, b, depth, TARGETS.of[product], part == 0, sums + p * C_PANEL);
    }
  }
  for (int q = 0; q < BLOCKS; ++q) {
    const int64_t row = block_row(q) * BLOCK_M, n = block_column(q) * BLOCK_N, m_end = min_of(min_of(m1 + PASS_M, BLOCK_M), M - row);
    const auto finish_piece = [&](int64_t m, int64_t p) {
      const int64_t at = (first + p) * NR, columns = min_of(min_of(NR, BLOCK_N - at), N - n - at);
      if (columns > 0) finish_row(in, c, sums + p * C_PANEL + q * C_BLOCK + (m - m1) * NR, row + m, n + at, columns);
    };
    if constexpr (BLOCKED) {
      for (int64_t p = 0; p < panels; ++p)
        for (int64_t m = m1; m < m_end; ++m) finish_piece(m, p);  // a vector's pixels lie side by side
    } else {
      for (int64_t m = m1; m < m_end; ++m)
        for (int64_t p = 0; p < panels; ++p) finish_piece(m, p);  // a row's pieces do: a panel's end in the middle of a line
    }
  }
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void* workspace) {
  float *c = static_cast<float*>(out[0]) + C_OFFSET, *rooms = static_cast<float*>(workspace);
#pragma omp parallel for num_threads(WORKERS) schedule(SCHEDULE)
  for (int64_t t = 0; t < ROW_TASKS * COLUMN_TASKS; ++t) {
    const int64_t rows = t / COLUMN_TASKS, columns = t % COLUMN_TASKS;
    const int64_t first = columns * GROUPS / COLUMN_TASKS, end = (columns + 1) * GROUPS / COLUMN_TASKS;
    for (int64_t m1 = rows * PASSES * PASS_M; m1 < min_of((rows + 1) * PASSES * PASS_M, BLOCK_M); m1 += PASS_M)
      for (int64_t g = first; g < end; ++g) run_group(in, c, g, m1, g == first, rooms + omp_get_thread_num() * (A_SUMS + C_SUMS));
  }
}
