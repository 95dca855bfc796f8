// Slices of data named by tuples of indices: BATCHES times TUPLES tuples of DEPTH indices, SLICE elements each. A thread an element.
extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands operands) {
  wait_for_producers();
  const IN0_t* data = (const IN0_t*)operands.in[0];
  const IN1_t* index = (const IN1_t*)operands.in[1];
  OUT0_t* y = (OUT0_t*)operands.out[0];
  for_each(BATCHES * TUPLES * SLICE, [&](int64_t n) {
    const int64_t tuple = n / SLICE;
    int64_t slice = tuple / TUPLES;  // the batch, then of data
#pragma unroll
    for (int d = 0; d < DEPTH; ++d) slice = slice * DIMS(d) + bounded((int64_t)index[tuple * DEPTH + d], DIMS(d));
    y[n] = data[slice * SLICE + n % SLICE];
  });
}

TABLE Launch amdahl_launches[] = {{0, blocks_for(BATCHES * TUPLES * SLICE), 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;
