// RMSNorm: y = x / sqrt(mean(x^2) + eps) * scale over each row of R x J elements. term() and inverse_of(), generated above, say what is summed of an element
// and what factor the sum makes: a norm is the same walk.
//
// READS: how often a row is read. 1: it stays in registers. 2: sum, result.

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands operands) {
  wait_for_producers();
  const auto plus = [](real a, real b) { return a + b; };
  for_lines([&](const Line& line) {
    Share share(operands.in, line);
    const real sum = share.fold(0, [](real x) { return term(x); }, plus), inverse = inverse_of(over_line(sum, plus));
    if (line.there && line.lane == 0) write_statistics(operands.out, 0, inverse, line.o, line.k);
    share.write_results(operands.out, [&](real x, const Others& others, int e) { return x * inverse * scale(others, e) + shift(others, e); });
  });
}

TABLE Launch amdahl_launches[] = {{0, BLOCKS, 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;
