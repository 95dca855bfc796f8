// One at the first largest element along an axis, zero elsewhere.
extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands operands) {
  wait_for_producers();
  for_lines([&](const Line& line) {
    const int64_t best = index_of_best<true, false>((const IN0_t*)operands.in[0], line);
    for_elements(line, [&](int64_t, int64_t, int64_t l) { ((OUT0_t*)operands.out[0])[place(line, l)] = stored<OUT0_t>(l == best); });
  });
}

TABLE Launch amdahl_launches[] = {{0, BLOCKS, 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;
