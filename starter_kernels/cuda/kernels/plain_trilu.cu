// The upper or lower triangle of every matrix, zero elsewhere.
extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands operands) {
  wait_for_producers();
  const IN0_t* x = (const IN0_t*)operands.in[0];
  OUT0_t* y = (OUT0_t*)operands.out[0];
  for_each(IN0_SIZE, [&](int64_t n) {
    const int64_t c = n % COLUMNS, r = n / COLUMNS % ROWS;
    const bool kept = UPPER ? c - r >= DIAGONAL : c - r <= DIAGONAL;
    y[n] = kept ? x[n] : stored<OUT0_t>(0);
  });
}

TABLE Launch amdahl_launches[] = {{0, blocks_for(IN0_SIZE), 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;
