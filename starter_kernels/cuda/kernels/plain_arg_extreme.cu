// Index of the largest or smallest element along an axis, of equal ones the first or the last.
extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands operands) {
  wait_for_producers();
  for_lines([&](const Line& line) {
    const int64_t best = index_of_best<LARGEST != 0, LAST != 0>((const IN0_t*)operands.in[0], line);
    if (line.there && line.lane == 0) ((OUT0_t*)operands.out[0])[line.o * K + line.k] = stored<OUT0_t>(best);
  });
}

TABLE Launch amdahl_launches[] = {{0, BLOCKS, 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;
