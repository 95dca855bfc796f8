// Rows as vectors: what normalisations do with a row whose elements lie side by side.

constexpr int64_t LANES = VECTOR_BITS / 8 / (int64_t)sizeof(real);
typedef real row_vector __attribute__((vector_size(VECTOR_BITS / 8)));
// What a pointer may address: rows are only element-aligned.
typedef real row_in_memory __attribute__((vector_size(VECTOR_BITS / 8), aligned(sizeof(real)), may_alias));

static inline __attribute__((always_inline)) row_vector vector_at(const real* x) { return *(const row_in_memory*)x; }

// While a row is in L1, memory waits: lines of the row after it are asked for, a part while the row is summed and the rest while it is
// written. The hardware's prefetcher stops where a page ends. (rmsnorm of 4096 x 4096 on Zen 3, one thread:
// 10% less time than where the whole row is asked for while the one before is written.) They go to L2 where L1 has no room for another row: 16 KiB
// of 32. A short row goes to L1 (layernorm of 4096 x 768 on Zen 4, out of L3: 11% less time).
constexpr int64_t FIRST_PART = DIRECT ? J / 4 : 0;
constexpr int NEXT_ROW_LEVEL = J * (int64_t)sizeof(real) <= 8 * 1024 ? 3 : 2;  // of __builtin_prefetch: 3 is L1
static inline void ask_for(const real* x) { __builtin_prefetch(x, 0, NEXT_ROW_LEVEL); }

// An addition waits for the one before it (3 cycles on Zen 3, 4 on Skylake; an FMA 4 on both), and two begin in every cycle. The one sum of
// vectors that `omp simd reduction` makes takes 384 cycles for the squares of 768 floats; eight take 50.
constexpr int SUMS = 8;
constexpr int64_t ROUND = SUMS * LANES;  // elements

template <class Term>
static inline __attribute__((always_inline)) void add_round(row_vector (&sums)[SUMS], const real* x, Term term) {
  for (int s = 0; s < SUMS; ++s) sums[s] += term(vector_at(x + s * LANES));
}

// What rounds came to, and term(x[i]) of elements [i, n).
template <class Term>
static inline __attribute__((always_inline)) real sum_of(row_vector (&sums)[SUMS], const real* x, int64_t i, int64_t n, Term term) {
  for (; i + LANES <= n; i += LANES) sums[0] += term(vector_at(x + i));
  for (int half = SUMS / 2; half > 0; half /= 2)
    for (int s = 0; s < half; ++s) sums[s] += sums[half + s];
  real sum = 0;
  for (int64_t l = 0; l < LANES; ++l) sum += sums[0][l];
  for (; i < n; ++i) sum += term(x[i]);
  return sum;
}

// The sum of term(x[i]) over n elements. term: of a vector, and of a number for those that fill none. next: nullptr, or the row after x.
template <class Term>
static inline __attribute__((always_inline)) real sum_over(const real* x, int64_t n, const real* next, Term term) {
  row_vector sums[SUMS] = {};
  int64_t i = 0;
  for (; i + ROUND <= n; i += ROUND) {
    if (next) ask_for(next + i / 4);
    add_round(sums, x + i, term);
  }
  return sum_of(sums, x, i, n, term);
}

// Elements [first, last) of part r of row o, as the row's sums will read them.
static inline void read_part(const void* const* in, real* x, int64_t o, int64_t r, int64_t first, int64_t last) {
  if (DIRECT) return;  // where they lie
  const Held here = held(in);
#pragma omp simd
  for (int64_t j = first; j < last; ++j) {
    const real v = input(here.at, o, r, j, 0);
    x[r * J + j] = v;
  }
}

// A cache line's results, past the caches where STREAM asks for it.
static inline void put_line(out_t* to, const out_t* line) {
#if STREAM
  stream_piece(to, line);
  stream_piece((char*)to + 32, (const char*)line + 32);
#else
  memcpy(to, line, 64);
#endif
}

constexpr int64_t LINE = 64 / sizeof(out_t);  // results

template <class Result>
static inline __attribute__((always_inline)) void write_line(out_t* y, int64_t j, Result result) {
  alignas(64) out_t line[LINE];
#pragma omp simd
  for (int64_t i = 0; i < LINE; ++i) line[i] = result(j + i);
  put_line(y + j, line);
}

// result(j) from j on, for whole lines (y + j is the beginning of one where results are streamed) and what is left.
template <class Result>
static inline __attribute__((always_inline)) void write_lines(out_t* y, int64_t j, const real* next, Result result) {
  for (; j + LINE <= J; j += LINE) {
    if (DIRECT) ask_for(next + FIRST_PART + j * 3 / 4);
    write_line(y, j, result);
  }
#pragma omp simd
  for (int64_t i = j; i < J; ++i) y[i] = result(i);
}

// result(j) for every j of part r of row o. Where results lie side by side, those of a cache line are made in registers.
template <class Result>
static inline __attribute__((always_inline)) void write_part(out_t* all, int64_t o, int64_t r, const real* next, Result result) {
  if constexpr (!RESULT_IS_RUN) {
#pragma omp simd
    for (int64_t j = 0; j < J; ++j) all[place(o, r, j, 0)] = result(j);
    return;
  }
  out_t* y = all + place(o, r, 0, 0);
  int64_t j = 0;
  if (STREAM)
    for (; j < J && (size_t)(y + j) % 64 != 0; ++j) y[j] = result(j);
  write_lines(y, j, next, result);
}

// The same for a row of one part, while the row after it is summed (OVERLAP): memory is read and written all the time, not by turns. The
// row that is read is asked for 2 KiB ahead, since the hardware's prefetcher stops where a page ends.
template <class Term, class Result>
static inline __attribute__((always_inline)) real write_and_sum(out_t* all, int64_t o, const real* next, Term term, Result result) {
  constexpr int64_t AHEAD = 2048 / sizeof(real);
  out_t* y = all + place(o, 0, 0, 0);
  if (ROUND % LINE != 0 || (STREAM && (size_t)y % 64 != 0)) {
    write_part(all, o, 0, next, result);
    return sum_over(next, J, nullptr, term);
  }
  row_vector sums[SUMS] = {};
  int64_t j = 0;
  for (; j + ROUND <= J; j += ROUND) {
    for (int64_t i = 0; i < ROUND; i += 64 / sizeof(real)) __builtin_prefetch(next + j + i + AHEAD);
    add_round(sums, next + j, term);
    for (int64_t i = j; i < j + ROUND; i += LINE) write_line(y, i, result);
  }
  write_lines(y, j, next, result);
  return sum_of(sums, next, j, J, term);
}
