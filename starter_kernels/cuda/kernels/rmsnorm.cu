// RMSNorm: y = x / sqrt(mean(x^2) + eps) * scale over each row of R x J elements. term() and inverse_of(), generated above, say what is summed of an element
// and what factor the sum makes: a norm is the same walk.
//
// READS: how often a row is read. 1: it stays in registers. 2: sum, result.

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands operands) {
  wait_for_producers();
  const void* const* in = operands.in;
  out_t* y = (out_t*)operands.out[0];
  const auto plus = [](real a, real b) { return a + b; };
  for_lines([&](const Line& line) {
    real kept[READS == 1 ? UNROLL : 1], sum = 0;
    for_elements(line, [&](int64_t i, int64_t r, int64_t j) {
      const real x = input(in, line.o, r, j, line.k);
      if (READS == 1) kept[i] = x;
      sum += term(x);
    });
    const real inverse = inverse_of(over_line(sum, plus));
    if (line.there && line.lane == 0) write_statistics(operands.out, 0, inverse, line.o, line.k);
    for_elements(line, [&](int64_t i, int64_t r, int64_t j) {
      const real x = READS == 1 ? kept[i] : input(in, line.o, r, j, line.k);
      write_input(operands.out, x, line.o, r, j, line.k);
      y[place(line.o, r, j, line.k)] = finish(x * inverse * scale(in, line.o, r, j, line.k) + shift(in, line.o, r, j, line.k), in, line.o, r, j, line.k);
    });
  });
}

TABLE Launch amdahl_launches[] = {{0, BLOCKS, 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;
