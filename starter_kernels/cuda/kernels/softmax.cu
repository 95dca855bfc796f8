// Softmax: y = exp(x - max) / sum exp(x - max), or its logarithm. Subtracting the maximum keeps every exponential in [0, 1].
//
// READS: how often a line is read. 1: it stays in registers. 2: maximum and sum grow together (Milakov & Gimelshein 2018), then the result is made.
// 3: maximum, sum, result.

#define LOWEST (-(real)__builtin_inff())

// All masked so far: exp(-inf - 0) is 0, exp(-inf + inf) would be NaN.
static inline real shift_of(real largest) { return largest == LOWEST ? 0 : largest; }

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands operands) {
  wait_for_producers();
  const void* const* in = operands.in;
  out_t* y = (out_t*)operands.out[0];
  const auto larger = [](real a, real b) { return b > a ? b : a; };
  const auto plus = [](real a, real b) { return a + b; };
  for_lines([&](const Line& line) {
    real kept[READS == 1 ? UNROLL : 1];
    const auto read = [&](int64_t r, int64_t j) { return input(in, line.o, r, j, line.k); };
    real largest = LOWEST, sum = 0;
    if (READS == 2) {
      for_elements(line, [&](int64_t, int64_t r, int64_t j) {
        const real x = read(r, j), most = larger(largest, x), shift = shift_of(most);
        sum = sum * scalar::exp(largest - shift) + scalar::exp(x - shift);
        largest = most;
      });
      const real most = over_line(largest, larger);
      sum *= scalar::exp(largest - shift_of(most));
      largest = most;
    } else {
      for_elements(line, [&](int64_t i, int64_t r, int64_t j) {
        const real x = read(r, j);
        if (READS == 1) kept[i] = x;
        largest = larger(largest, x);
      });
      largest = over_line(largest, larger);
      for_elements(line, [&](int64_t i, int64_t r, int64_t j) {
        const real e = scalar::exp((READS == 1 ? kept[i] : read(r, j)) - largest);
        if (READS == 1 && !LOG) kept[i] = e;
        sum += e;
      });
    }
    sum = over_line(sum, plus);
    const real factor = LOG ? scalar::log(sum) : 1 / sum;
    for_elements(line, [&](int64_t i, int64_t r, int64_t j) {
      const real x = READS == 1 ? kept[i] : read(r, j);
      const real value = LOG ? (x - largest) - factor : (READS == 1 ? x : scalar::exp(x - largest)) * factor;
      y[place(line.o, r, j, line.k)] = finish(value, in, line.o, r, j, line.k);
    });
  });
}

TABLE Launch amdahl_launches[] = {{0, BLOCKS, 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;
