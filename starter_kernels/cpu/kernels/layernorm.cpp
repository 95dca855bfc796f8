// LayerNorm: y = (x - mean) / sqrt(variance + eps) * scale + shift over each row of R x J elements.
//
// The row is read from memory once, and stays in L1 or L2 meanwhile: where it lies, or in a scratch row if a prologue makes it. The
// variance is the mean of squared distances from the mean, never E[x^2] - E[x]^2: that difference loses every digit when the mean is
// large against the deviation. OVERLAP: a row is summed while the one before it is written.

struct Moments {
  real count, mean, squares;  // squares: sum of (x - mean)^2
};

// Chan, Golub and LeVeque (1979): the moments of two disjoint sets together.
static inline Moments together(Moments a, Moments b) {
  const real n = a.count + b.count, d = b.mean - a.mean;
  return {n, a.mean + d * (b.count / n), a.squares + b.squares + d * d * (a.count * (b.count / n))};
}

static inline Moments moments_of(const real* x, int64_t n, real sum) {
  const real mean = sum / (real)n;
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
      const real* from = x + r * J + first;
      const Moments block = moments_of(from, last - first, sum_over(from, last - first, nullptr, [](auto v) { return v; }));
      all = all.count == 0 ? block : together(all, block);
    }
  return all;
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void* workspace) {
  const auto itself = [](auto v) { return v; };
  for_each_task(workspace, [&](int64_t first, int64_t last, real* scratch) {
    real sum = 0;
    for (int64_t o = first; o < last; ++o) {
      const real* x = DIRECT ? direct(in, o) : scratch;
      if (!WELFORD && (!OVERLAP || o == first)) {
        for (int64_t r = 0; r < R; ++r) read_part(in, scratch, o, r, 0, J);
        sum = sum_over(x, R * J, DIRECT ? x + J : nullptr, itself);
      }
      const Moments m = WELFORD ? moments_of_blocks(in, x, scratch, o) : moments_of(x, R * J, sum);
      const real mean = m.mean, inverse = inverse_of(m.squares);
      write_statistics(out, o, mean, inverse);
      for (int64_t r = 0; r < R; ++r) {
        write_input(out, x + r * J, o, r);
        const auto result = [&](int64_t j) {
          const real n = (x[r * J + j] - mean) * inverse;
          return finish(n * scale(in, o, r, j, 0) + shift(in, o, r, j, 0), in, o, r, j, 0);
        };
        if (OVERLAP && o + 1 < last) sum = write_and_sum((out_t*)out[0], o, direct(in, o + 1), itself, result);
        else write_part((out_t*)out[0], o, r, x + J, result);
      }
    }
  });
}
