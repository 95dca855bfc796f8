// LayerNorm: y = (x - mean) / sqrt(variance + eps) * scale + shift over each row of R x J elements.
//
// The row is read once into a scratch row that stays in L1 or L2. The variance is the mean of squared distances from the
// mean, never E[x^2] - E[x]^2: that difference loses every digit when the mean is large against the deviation.

struct Moments {
  real count, mean, squares;  // squares: sum of (x - mean)^2
};

// Chan, Golub and LeVeque (1979): the moments of two disjoint sets together.
static inline Moments together(Moments a, Moments b) {
  const real n = a.count + b.count, d = b.mean - a.mean;
  return {n, a.mean + d * (b.count / n), a.squares + b.squares + d * d * (a.count * (b.count / n))};
}

static inline Moments moments_of(const real* x, int64_t n) {
  real sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) sum += x[i];
  const real mean = sum / (real)n;
#pragma omp simd reduction(+ : squares)
  for (int64_t i = 0; i < n; ++i) squares += (x[i] - mean) * (x[i] - mean);
  return {(real)n, mean, squares};
}

static inline Moments read_row(const void* const* in, real* x, int64_t o) {
  const Held here = held(in);
  Moments all{0, 0, 0};
  if (WELFORD) {
    // Blocks that fit L1 are read, summed and centred while they are hot, and merged: one walk over memory.
    for (int64_t r = 0; r < R; ++r)
      for (int64_t first = 0; first < J; first += 1024) {
        const int64_t n = J - first < 1024 ? J - first : 1024;
#pragma omp simd
        for (int64_t j = first; j < first + n; ++j) x[r * J + j] = input(here.at, o, r, j, 0);
        const Moments block = moments_of(x + r * J + first, n);
        all = all.count == 0 ? block : together(all, block);
      }
    return all;
  }
  real sum = 0;
  for (int64_t r = 0; r < R; ++r)
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < J; ++j) {
      const real v = input(here.at, o, r, j, 0);
      x[r * J + j] = v;
      sum += v;
    }
  const real mean = sum / (real)(R * J);
  real squares = 0;
#pragma omp simd reduction(+ : squares)
  for (int64_t i = 0; i < R * J; ++i) squares += (x[i] - mean) * (x[i] - mean);
  return {(real)(R * J), mean, squares};
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void* workspace) {
  out_t* y = (out_t*)out[0];
  for_each_row(workspace, [&](int64_t o, real* x) {
    const Moments m = read_row(in, x, o);
    const real mean = m.mean, inverse = inverse_of(m.squares);
    write_statistics(out, o, mean, inverse);
    for (int64_t r = 0; r < R; ++r) {
      write_input(out, x + r * J, o, r);
#if STREAM
      out_t* result = (out_t*)(x + r * J);
#pragma omp simd
      for (int64_t j = 0; j < J; ++j) {
        const real n = (x[r * J + j] - mean) * inverse;
        result[j] = finish(n * scale(in, o, r, j, 0) + shift(in, o, r, j, 0), in, o, r, j, 0);
      }
      stream_copy(y + place(o, r, 0, 0), result, J * sizeof(out_t));
#else
#pragma omp simd
      for (int64_t j = 0; j < J; ++j) {
        const real n = (x[r * J + j] - mean) * inverse;
        y[place(o, r, j, 0)] = finish(n * scale(in, o, r, j, 0) + shift(in, o, r, j, 0), in, o, r, j, 0);
      }
#endif
    }
  });
}
