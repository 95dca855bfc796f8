// Softmax: y = exp(x - max) / sum exp(x - max), or its logarithm. Subtracting the maximum keeps every exponential in [0, 1].
//
// READS: how often a line is read. 1: it stays in registers. 2: maximum and sum grow together (Milakov & Gimelshein 2018), then the result is made.
// 3: maximum, sum, result.

#define LOWEST (-(real)__builtin_inff())

// All masked so far: exp(-inf - 0) is 0, exp(-inf + inf) would be NaN.
static inline real shift_of(real largest) { return largest == LOWEST ? 0 : largest; }

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands operands) {
  wait_for_producers();
  const auto larger = [](real a, real b) { return b > a ? b : a; };
  const auto plus = [](real a, real b) { return a + b; };
  for_lines([&](const Line& line) {
    Share share(operands.in, line);
    real largest = LOWEST, sum = 0;
    if constexpr (READS == 2) {
      share.for_values([&](real(&values)[PIECE], int64_t, int64_t, int64_t) {
        for (real x : values) {
          const real most = larger(largest, x), shift = shift_of(most);
          sum = sum * scalar::exp(largest - shift) + scalar::exp(x - shift);
          largest = most;
        }
      });
      const real most = over_line(largest, larger);
      sum *= scalar::exp(largest - shift_of(most));
      largest = most;
    } else {
      largest = over_line(share.fold(LOWEST, [](real x) { return x; }, larger), larger);
      const auto exponential = [&](real& x) {
        const real y = scalar::exp(x - largest);
        if (READS == 1 && !LOG) x = y;
        return y;
      };
      sum = share.fold(0, exponential, plus);
    }
    sum = over_line(sum, plus);
    const real factor = LOG ? scalar::log(sum) : 1 / sum;
    share.write_results(operands.out, [&](real x, const Others&, int) {
      return LOG ? (x - largest) - factor : (READS == 1 ? x : scalar::exp(x - largest)) * factor;
    });
  });
}

TABLE Launch amdahl_launches[] = {{0, BLOCKS, 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;
