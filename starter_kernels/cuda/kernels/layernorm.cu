// LayerNorm: y = (x - mean) / sqrt(variance + eps) * scale + shift over each row of R x J elements. The variance is the mean of squared distances from the
// mean, never E[x^2] - E[x]^2: that difference loses every digit when the mean is large against the deviation.
//
// READS: how often a row is read. 1: it stays in registers. 2: mean and squares grow together (Welford 1962), then the result is made. 3: mean, squares,
// result.

struct Moments {
  real count, mean, squares;  // squares: sum of (x - mean)^2
};

// Chan, Golub and LeVeque (1979): the moments of two disjoint sets together.
static inline Moments together(Moments a, Moments b) {
  const real n = a.count + b.count, share = n == 0 ? 0 : b.count / n, d = b.mean - a.mean;
  return {n, a.mean + d * share, a.squares + b.squares + d * d * (a.count * share)};
}
static inline Moments of_lane(Moments m, int distance) { return {of_lane(m.count, distance), of_lane(m.mean, distance), of_lane(m.squares, distance)}; }

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands operands) {
  wait_for_producers();
  const void* const* in = operands.in;
  out_t* y = (out_t*)operands.out[0];
  const auto plus = [](real a, real b) { return a + b; };
  for_lines([&](const Line& line) {
    real kept[READS == 1 ? UNROLL : 1];
    const auto read = [&](int64_t i, int64_t r, int64_t j) { return READS == 1 ? kept[i] : input(in, line.o, r, j, line.k); };
    real mean = 0, squares = 0;
    if (READS == 2) {
      Moments m = {0, 0, 0};
      for_elements(line, [&](int64_t i, int64_t r, int64_t j) {
        const real x = read(i, r, j), d = x - m.mean;
        m.count += 1;
        m.mean += d / m.count;
        m.squares += d * (x - m.mean);
      });
      m = over_line(m, together);
      mean = m.mean;
      squares = m.squares;
    } else {
      for_elements(line, [&](int64_t i, int64_t r, int64_t j) {
        const real x = input(in, line.o, r, j, line.k);
        if (READS == 1) kept[i] = x;
        mean += x;
      });
      mean = over_line(mean, plus) / (real)ELEMENTS;
      for_elements(line, [&](int64_t i, int64_t r, int64_t j) {
        const real d = read(i, r, j) - mean;
        squares += d * d;
      });
      squares = over_line(squares, plus);
    }
    const real inverse = inverse_of(squares);
    if (line.there && line.lane == 0) write_statistics(operands.out, mean, inverse, line.o, line.k);
    for_elements(line, [&](int64_t i, int64_t r, int64_t j) {
      const real x = read(i, r, j), n = (x - mean) * inverse;
      write_input(operands.out, x, line.o, r, j, line.k);
      y[place(line.o, r, j, line.k)] = finish(n * scale(in, line.o, r, j, line.k) + shift(in, line.o, r, j, line.k), in, line.o, r, j, line.k);
    });
  });
}

TABLE Launch amdahl_launches[] = {{0, BLOCKS, 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;
