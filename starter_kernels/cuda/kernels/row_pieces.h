// A line in pieces of PIECE elements, neighbours along j: those of a thread are LANES apart. Inputs and Others, generated above, are a piece of what makes a
// line and of what makes its result.
enum : long long { PIECES = ELEMENTS / PIECE, TURNS = (PIECES + LANES - 1) / LANES };
enum : bool { WHOLE = PIECES % LANES == 0 };  // every lane has as many

// run(i, r, j) for the pieces of a line that are this thread's; i numbers them, j is the first element's.
template <class Run> static inline void for_pieces(const Line& line, Run run) {
#pragma unroll(UNROLL)
  for (int64_t i = 0; i < TURNS; ++i) {
    const int64_t at = i * LANES + line.lane;
    if (line.there && (WHOLE || at < PIECES)) run(i, R == 1 ? 0 : at * PIECE / J, R == 1 ? at * PIECE : at * PIECE % J);
  }
}

// Elements of a row that the lanes of this warp have.
static inline int64_t elements_of_warp(const Line& line) {
  if (LANES <= 32) return ELEMENTS;
  if (WHOLE) return TURNS * 32 * PIECE;
  int64_t pieces = 0;
  for (int64_t i = 0; i < TURNS; ++i) {
    const int64_t left = PIECES - i * LANES - line.lane / 32 * 32;
    pieces += left < 0 ? 0 : left < 32 ? left : 32;
  }
  return pieces * PIECE;
}

// A thread's share of a line. READS 1: all loads are on their way before the first is waited for, and what they bring stays in registers; else it is read
// whenever it is asked for.
struct Share {
  const void* const* in;
  const Line& line;
  real kept[READS == 1 ? UNROLL : 1][PIECE];
  Others others[EARLY ? UNROLL : 1];

  inline Share(const void* const* operands, const Line& of) : in(operands), line(of) {
    if constexpr (READS == 1) {
      Inputs inputs[UNROLL];
      for_pieces(line, [&](int64_t i, int64_t r, int64_t j) { inputs[i] = load_Inputs(in, line.o, r, j, line.k); });
      if constexpr (EARLY) for_pieces(line, [&](int64_t i, int64_t r, int64_t j) { others[i] = load_Others(in, line.o, r, j, line.k); });
      for_pieces(line, [&](int64_t i, int64_t, int64_t) { convert(inputs[i], kept[i]); });
    }
  }

  static inline void convert(const Inputs& from, real (&to)[PIECE]) {
#pragma unroll
    for (int e = 0; e < PIECE; ++e) to[e] = input(from, e);
  }

  // run(values, r, j) for all pieces; where they are kept, what it changes in them is kept too.
  template <class Run> inline void for_values(Run run) {
    for_pieces(line, [&](int64_t i, int64_t r, int64_t j) {
      if constexpr (READS == 1) {
        run(kept[i], i, r, j);
      } else {
        real values[PIECE];
        convert(load_Inputs(in, line.o, r, j, line.k), values);
        run(values, i, r, j);
      }
    });
  }

  // merge() of step(x) of all elements: that of elements that are PIECE apart is PIECE sums, which do not wait for each other.
  template <class Step, class Merge> inline real fold(real start, Step step, Merge merge) {
    real sums[PIECE];
#pragma unroll
    for (int e = 0; e < PIECE; ++e) sums[e] = start;
    for_values([&](real(&x)[PIECE], int64_t, int64_t, int64_t) {
#pragma unroll
      for (int e = 0; e < PIECE; ++e) sums[e] = merge(sums[e], step(x[e]));
    });
#pragma unroll
    for (int half = PIECE / 2; half > 0; half /= 2)
#pragma unroll
      for (int e = 0; e < half; ++e) sums[e] = merge(sums[e], sums[e + half]);
    return sums[0];
  }

  // Writes result(x, others, e) of all elements x, each the e-th of its piece.
  template <class Result> inline void write_results(void* const* out, Result result) {
    for_values([&](real(&x)[PIECE], int64_t i, int64_t r, int64_t j) {
      Others late;
      if constexpr (!EARLY) late = load_Others(in, line.o, r, j, line.k);
      const Others& with = EARLY ? others[i] : late;
      out_t results[PIECE];
#pragma unroll
      for (int e = 0; e < PIECE; ++e) results[e] = finish(result(x[e], with, e), with, e);
      write(out, x, results, line.o, r, j, line.k);
    });
  }
};
