// OUT is [OUTER, LENGTH, INNER]; indices (in[0]) are [OUTER, INNER]; in[1] = {off, on}. Indices out of range select nothing.
extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands operands) {
  wait_for_producers();
  const IN0_t* indices = (const IN0_t*)operands.in[0];
  const IN1_t* values = (const IN1_t*)operands.in[1];
  for_each(OUTER * LENGTH * INNER, [&](int64_t n) {
    const int64_t i = n % INNER, l = n / INNER % LENGTH, o = n / INNER / LENGTH;
    int64_t hot = (int64_t)number(indices[o * INNER + i]);
    if (hot < 0) hot += LENGTH;
    ((OUT0_t*)operands.out[0])[n] = values[hot == l];
  });
}

TABLE Launch amdahl_launches[] = {{0, blocks_for(OUTER * LENGTH * INNER), 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;
