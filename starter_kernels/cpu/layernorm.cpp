// LayerNorm: y = (x - mean) / sqrt(variance + eps) * scale + shift over each row of R x J elements.
//
// The row is read from memory once, and stays in L1 or L2 meanwhile: where it lies, or in a scratch row if a prologue makes it. The
// variance is the mean of squared distances from the mean, never E[x^2] - E[x]^2: that difference loses every digit when the mean is
// large against the deviation.

struct Moments {
  real count, mean, squares;  // squares: sum of (x - mean)^2
};

// Chan, Golub and LeVeque (1979): the moments of two disjoint sets together.
static inline Moments together(Moments a, Moments b) {
  const real n = a.count + b.count, d = b.mean - a.mean;
  return {n, a.mean + d * (b.count / n), a.squares + b.squares + d * d * (a.count * (b.count / n))};
}

static inline Moments moments_of(const real* x, int64_t n, const real* next) {
  const real mean = sum_over(x, n, next, [](auto v) { return v; }) / (real)n;
  const real squares = sum_over(x, n, nullptr, [mean](auto v) { return (v - mean) * (v - mean); });
  return {(real)n, mean, squares};
}

// Blocks that fit L1 are read, summed and centred while they are hot, and merged: one walk over memory.
static inline Moments moments_of_blocks(const void* const* in, const real* x, real* scratch, int64_t o) {
  Moments all{0, 0, 0};
  for (int64_t r = 0; r < R; ++r)
    for (int64_t first = 0; first < J; first += 1024) {
      const int64_t last = first + 1024 < J ? first + 1024 : J;
      read_part(in, scratch, o, r, first, last);
      const Moments block = moments_of(x + r * J + first, last - first, nullptr);
      all = all.count == 0 ? block : together(all, block);
    }
  return all;
}

static inline Moments moments_of_row(const void* const* in, const real* x, real* scratch, int64_t o) {
  if (WELFORD) return moments_of_blocks(in, x, scratch, o);
  for (int64_t r = 0; r < R; ++r) read_part(in, scratch, o, r, 0, J);
  return moments_of(x, R * J, DIRECT ? x + J : nullptr);
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void* workspace) {
  for_each_row(workspace, [&](int64_t o, real* scratch) {
    const real* x = DIRECT ? direct(in, o) : scratch;
    const Moments m = moments_of_row(in, x, scratch, o);
    const real mean = m.mean, inverse = inverse_of(m.squares);
    write_statistics(out, o, mean, inverse);
    for (int64_t r = 0; r < R; ++r) {
      write_input(out, x + r * J, o, r);
      write_part((out_t*)out[0], o, r, x + J, [&](int64_t j) {
        const real n = (x[r * J + j] - mean) * inverse;
        return finish(n * scale(in, o, r, j, 0) + shift(in, o, r, j, 0), in, o, r, j, 0);
      });
    }
  });
}
