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
// The same of all warps of a row at once, without a division for each.
static inline Moments of_all_warps(Moments mine) {
  const Moments* warps = of_warps(mine);
  real sum = 0, squares = 0;
  for (int w = 0; w < WARPS; ++w) sum += warps[w].count * warps[w].mean;
  const real mean = sum / (real)ELEMENTS;
  for (int w = 0; w < WARPS; ++w) squares += warps[w].squares + warps[w].count * (warps[w].mean - mean) * (warps[w].mean - mean);
  __syncthreads();  // before they are written again
  return {(real)ELEMENTS, mean, squares};
}
static inline Moments of_lane(Moments m, int distance) { return {of_lane(m.count, distance), of_lane(m.mean, distance), of_lane(m.squares, distance)}; }

// Mean and squares of a line that is read twice: each warp's about its own mean, then together, so that warps wait for each other once.
static inline Moments moments_of(Share& share, const Line& line) {
  const auto plus = [](real a, real b) { return a + b; };
  const auto squares_about = [&](real mean) { return share.fold(0, [&](real x) { return (x - mean) * (x - mean); }, plus); };
  const real sum = share.fold(0, [](real x) { return x; }, plus);
  if constexpr (COLUMNS) {
    const real mean = over_line(sum, plus) / (real)ELEMENTS;
    return {(real)ELEMENTS, mean, over_line(squares_about(mean), plus)};
  } else {
    const int64_t count = elements_of_warp(line);
    const real of_sum = over_warp(sum, plus), mean = count > 0 ? of_sum / (real)count : 0;
    const Moments mine = {(real)count, mean, over_warp(squares_about(mean), plus)};
    if constexpr (WARPS == 1) return mine;
    else return of_all_warps(mine);
  }
}

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands operands) {
  wait_for_producers();
  for_lines([&](const Line& line) {
    Share share(operands.in, line);
    Moments m = {0, 0, 0};
    if constexpr (READS == 2) {
      share.for_values([&](real(&values)[PIECE], int64_t, int64_t, int64_t) {
        for (real x : values) {
          const real d = x - m.mean;
          m.count += 1;
          m.mean += d / m.count;
          m.squares += d * (x - m.mean);
        }
      });
      m = over_line(m, together);
    } else {
      m = moments_of(share, line);
    }
    const real mean = m.mean, inverse = inverse_of(m.squares);
    if (line.there && line.lane == 0) write_statistics(operands.out, mean, inverse, line.o, line.k);
    share.write_results(operands.out, [&](real x, const Others& others, int e) { return (x - mean) * inverse * scale(others, e) + shift(others, e); });
  });
}

TABLE Launch amdahl_launches[] = {{0, BLOCKS, 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;
