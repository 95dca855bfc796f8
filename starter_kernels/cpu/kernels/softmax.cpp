// Softmax: y = exp(x - max) / sum exp(x - max), or its logarithm. Subtracting the maximum keeps every exponential in [0, 1].
//
// Row mode (K = 1): the exponentials are made where the result will be, if it is of their type, and divided there: the result's
// lines, which an ordinary store reads first, come while exponentials are computed (4096 x 4096 on Cascade Lake, two threads: 7.3 ms;
// through a scratch row 11.1). Otherwise a scratch row holds them, in L1 or L2. Column mode: CHUNK neighbouring columns go through
// the three passes together.

constexpr real LOWEST = -(real)__builtin_inff();

// The row's input once more. x: of a row of its own, unless inputs lie side by side in a row already (DIRECT).
static inline __attribute__((always_inline)) real again(Held here, const real* x, int64_t o, int64_t j) {
  return DIRECT ? input(here.at, o, 0, j, 0) : x[j];
}

static inline __attribute__((always_inline)) real result(Held here, const real* x, real shift, real factor, int64_t o, int64_t j) {
  if (LOG) return (again(here, x, o, j) - shift) - factor;
  return ONLINE ? scalar::exp_below_zero(again(here, x, o, j) - shift) * factor : x[j] * factor;
}

static inline void write_row(const real* x, real shift, real factor, const void* const* in, out_t* y, int64_t o) {
  const Held here = held(in);
#pragma omp simd
  for (int64_t j = 0; j < J; ++j) {
    const real value = result(here, x, shift, factor, o, j);
    y[place(o, 0, j, 0)] = finish(value, in, o, 0, j, 0);
  }
}

// The result is made in the scratch row and leaves past the caches.
static inline void stream_row(real* x, real shift, real factor, const void* const* in, out_t* y, int64_t o) {
  const Held here = held(in);
  out_t* row = (out_t*)x;  // never wider than real: element j is written after it was read
#pragma omp simd
  for (int64_t j = 0; j < J; ++j) {
    const real value = result(here, x, shift, factor, o, j);
    row[j] = finish(value, in, o, 0, j, 0);
  }
#if STREAM
  stream_copy(y + place(o, 0, 0, 0), row, J * sizeof(out_t));
#endif
}

// Exponentials are the one walk over a row that memory does not slow down: the next row comes to L2 meanwhile, a part at a time, so that the lines asked
// for find buffers (4096 x 4096 on Zen 3, one thread: 12.6 ms without, 11.1 with parts of 512, 9.2 of 256).
constexpr int64_t PART = 256;
static inline void ask_for(const void* const* in, int64_t o, int64_t first, int64_t last) {
  if (DIRECT)
    for (int64_t j = first; j < last; j += 64 / sizeof(in_t)) __builtin_prefetch((const in_t*)in[0] + from(o, 0, j, 0), 0, 2);
}

static inline void softmax_row(const void* const* in, out_t* y, int64_t o, real* scratch) {
  const Held here = held(in);
  real* x = IN_PLACE ? (real*)(y + place(o, 0, 0, 0)) : scratch;
  real largest = LOWEST, sum = 0;
  if (ONLINE) {
    // Blocks of the row: the running sum is rescaled when a block raises the maximum; its elements are exponentiated
    // once for the sum and once for the result, but the row is walked two times instead of three.
    for (int64_t first = 0; first < J; first += 512) {
      const int64_t last = first + 512 < J ? first + 512 : J;
      real m = largest;
#pragma omp simd reduction(max : m)
      for (int64_t j = first; j < last; ++j) {
        const real v = input(here.at, o, 0, j, 0);
        if (!DIRECT) x[j] = v;
        m = v > m ? v : m;
      }
      const real shift = m == LOWEST ? 0 : m;  // all masked so far: exp(-inf - 0) is 0, exp(-inf + inf) would be NaN
      real s = 0;
#pragma omp simd reduction(+ : s)
      for (int64_t j = first; j < last; ++j) s += scalar::exp_below_zero(again(here, x, o, j) - shift);
      sum = sum * scalar::exp_below_zero(largest - shift) + s;
      largest = m;
    }
  } else {
#pragma omp simd reduction(max : largest)
    for (int64_t j = 0; j < J; ++j) {
      const real v = input(here.at, o, 0, j, 0);
      if (!DIRECT) x[j] = v;
      largest = v > largest ? v : largest;
    }
    for (int64_t first = 0; first < J; first += PART) {
      const int64_t last = first + PART < J ? first + PART : J;
      ask_for(in, o + 1, first, last);
#pragma omp simd reduction(+ : sum)
      for (int64_t j = first; j < last; ++j) {
        const real e = scalar::exp_below_zero(again(here, x, o, j) - largest);
        if (!LOG) x[j] = e;
        sum += e;
      }
    }
  }
  const real factor = LOG ? scalar::log(sum) : 1 / sum;
#if STREAM
  stream_row(x, largest, factor, in, y, o);
#else
  write_row(x, largest, factor, in, y, o);
#endif
}

static inline void softmax_columns(const void* const* in, out_t* y, int64_t o, int64_t first, real* x) {
  constexpr int64_t CHUNK = 64;
  const int64_t n = K - first < CHUNK ? K - first : CHUNK;
  const Held here = held(in);
  real largest[CHUNK], sum[CHUNK];
  for (int64_t c = 0; c < n; ++c) largest[c] = LOWEST, sum[c] = 0;
  for (int64_t j = 0; j < J; ++j)
#pragma omp simd
    for (int64_t c = 0; c < n; ++c) {
      const real v = input(here.at, o, 0, j, first + c);
      x[j * CHUNK + c] = v;
      largest[c] = v > largest[c] ? v : largest[c];
    }
  for (int64_t j = 0; j < J; ++j)
#pragma omp simd
    for (int64_t c = 0; c < n; ++c) {
      const real e = scalar::exp_below_zero(x[j * CHUNK + c] - largest[c]);
      if (!LOG) x[j * CHUNK + c] = e;
      sum[c] += e;
    }
#pragma omp simd
  for (int64_t c = 0; c < n; ++c) sum[c] = LOG ? scalar::log(sum[c]) : 1 / sum[c];
  for (int64_t j = 0; j < J; ++j)
#pragma omp simd
    for (int64_t c = 0; c < n; ++c) {
      const real v = x[j * CHUNK + c];
      y[place(o, 0, j, first + c)] = finish(LOG ? (v - largest[c]) - sum[c] : v * sum[c], in, o, 0, j, first + c);
    }
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void* workspace) {
  out_t* y = (out_t*)out[0];
  for_each_row(workspace, [&](int64_t i, real* scratch) {
    if constexpr (K == 1) softmax_row(in, y, i, scratch);
    else softmax_columns(in, y, i / COLUMN_CHUNKS, i % COLUMN_CHUNKS * 64, scratch);
  });
}
