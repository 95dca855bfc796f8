// Reduce: one value out of each row of R x J elements, K neighbouring columns at once when no reduced dimension runs along
// memory.
//
// Row mode: STREAMS read streams through the row draw more from memory than one (20-25%), and each is folded UNROLL vectors at a time: whole cache
// lines (16 million floats on huge pages, Zen 3, in turns: two vectors of 32 bytes 1.01 to 1.03 times as fast as one, four level). Each vector
// has an accumulator of its own: additions need 3 or 4 cycles and two can start in each.
// Column mode: CHUNK columns are folded together, accumulators in L1.
// Few long rows are cut into PIECES (threads would idle otherwise), whose partial results are merged in order: the result
// does not depend on timing.

#pragma omp declare reduction(fold : acc_t : omp_out = merge(omp_out, omp_in)) initializer(omp_priv = START)

constexpr int64_t WIDTH = UNROLL * VECTOR_BITS / 8 / (int64_t)sizeof(acc_t);  // elements of a stream at a time

// Elements [first, last) of a row whose R x J elements are numbered through.
static inline acc_t fold_range(const void* const* in, int64_t o, int64_t first, int64_t last, acc_t offset) {
  const Held here = held(in);
  acc_t total = START;
  for (int64_t at = first; at < last;) {
    const int64_t r = at / J, begin = at % J;
    const int64_t n = last - at < J - begin ? last - at : J - begin, part = n / (STREAMS * WIDTH) * WIDTH;
    if (part > 0) {
      acc_t sums[STREAMS][WIDTH];  // in registers: every index is known when the inner loops are unrolled
      for (int64_t s = 0; s < STREAMS; ++s)
        for (int64_t i = 0; i < WIDTH; ++i) sums[s][i] = START;
      for (int64_t j = begin; j < begin + part; j += WIDTH)
#pragma GCC unroll 4
        for (int64_t s = 0; s < STREAMS; ++s)
#pragma omp simd
          for (int64_t i = 0; i < WIDTH; ++i) sums[s][i] = step(sums[s][i], input(here.at, o, r, j + s * part + i, 0), offset);
      for (int64_t s = 1; s < STREAMS; ++s)
        for (int64_t i = 0; i < WIDTH; ++i) sums[0][i] = merge(sums[0][i], sums[s][i]);
      for (int64_t half = WIDTH / 2; half > 0; half /= 2)
        for (int64_t i = 0; i < half; ++i) sums[0][i] = merge(sums[0][i], sums[0][half + i]);
      total = merge(total, sums[0][0]);
    }
    acc_t rest = START;
#pragma omp simd reduction(fold : rest)
    for (int64_t j = begin + STREAMS * part; j < begin + n; ++j) rest = step(rest, input(here.at, o, r, j, 0), offset);
    total = merge(total, rest);
    at += n;
  }
  return total;
}

static inline void fold_columns(const void* const* in, int64_t o, int64_t column, int64_t n, int64_t first, int64_t last,
                                const acc_t* offset, acc_t* acc) {
  const Held here = held(in);
  for (int64_t c = 0; c < n; ++c) acc[c] = START;
  for (int64_t at = first; at < last; ++at) {
    const int64_t r = at / J, j = at % J;
#pragma omp simd
    for (int64_t c = 0; c < n; ++c) acc[c] = step(acc[c], input(here.at, o, r, j, column + c), offset[c]);
  }
}

constexpr int64_t PIECE = (R * J + PIECES - 1) / PIECES;
static inline int64_t end_of(int64_t piece) { return (piece + 1) * PIECE < R * J ? (piece + 1) * PIECE : R * J; }

// Partial results: acc_t[O * K][PIECES] in row mode, acc_t[PIECES][O * K] in column mode.
extern "C" size_t amdahl_workspace_bytes(void) { return PIECES > 1 ? O * K * PIECES * sizeof(acc_t) : 0; }
extern "C" size_t amdahl_packed_bytes(int) { return 0; }
extern "C" void amdahl_pack(int, const void*, void*) {}

static void run_rows(const void* const* in, out_t* y, acc_t* partial) {
#pragma omp parallel for schedule(static) num_threads(THREADS) if (PARALLEL)
  for (int64_t task = 0; task < TASKS * PIECES; ++task) {
    const int64_t piece = task % PIECES, first = task / PIECES * ROWS_PER_TASK;
    const int64_t last = first + ROWS_PER_TASK < O ? first + ROWS_PER_TASK : O;
    for (int64_t o = first; o < last; ++o) {
      const acc_t offset = SHIFTED ? shift_of(in, o, 0) : START;
      const acc_t a = fold_range(in, o, piece * PIECE, end_of(piece), offset);
      if (PIECES > 1) partial[o * PIECES + piece] = a;
      else y[place(o, 0, 0, 0)] = finish(result(a, offset), in, o, 0, 0, 0);
    }
  }
  if (PIECES > 1)
    for (int64_t o = 0; o < O; ++o) {
      acc_t a = partial[o * PIECES];
      for (int64_t p = 1; p < PIECES; ++p) a = merge(a, partial[o * PIECES + p]);
      y[place(o, 0, 0, 0)] = finish(result(a, START), in, o, 0, 0, 0);
    }
}

static void run_columns(const void* const* in, out_t* y, acc_t* partial) {
  constexpr int64_t CHUNK = 256, CHUNKS = (K + CHUNK - 1) / CHUNK;
#pragma omp parallel for schedule(static) num_threads(THREADS) if (PARALLEL)
  for (int64_t task = 0; task < O * CHUNKS * PIECES; ++task) {
    const int64_t piece = task % PIECES, column = task / PIECES % CHUNKS * CHUNK, o = task / PIECES / CHUNKS;
    const int64_t n = K - column < CHUNK ? K - column : CHUNK;
    acc_t acc[CHUNK], offset[CHUNK];
    for (int64_t c = 0; c < n; ++c) offset[c] = SHIFTED ? shift_of(in, o, column + c) : START;
    fold_columns(in, o, column, n, piece * PIECE, end_of(piece), offset, acc);
    if (PIECES > 1) memcpy(partial + (piece * O + o) * K + column, acc, n * sizeof(acc_t));
    else
      for (int64_t c = 0; c < n; ++c) y[place(o, 0, 0, column + c)] = finish(result(acc[c], offset[c]), in, o, 0, 0, column + c);
  }
  if (PIECES > 1)
    for (int64_t o = 0; o < O; ++o)
      for (int64_t k = 0; k < K; ++k) {
        acc_t a = partial[o * K + k];
        for (int64_t p = 1; p < PIECES; ++p) a = merge(a, partial[(p * O + o) * K + k]);
        y[place(o, 0, 0, k)] = finish(result(a, START), in, o, 0, 0, k);
      }
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void* workspace) {
  if constexpr (K == 1) run_rows(in, (out_t*)out[0], (acc_t*)workspace);
  else run_columns(in, (out_t*)out[0], (acc_t*)workspace);
}
