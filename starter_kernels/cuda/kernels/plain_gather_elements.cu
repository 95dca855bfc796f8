// out[i][j][k] = data[index[i][j][k]][j][k] for AXIS 0, and so on: out and index have one shape.
extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands operands) {
  wait_for_producers();
  const IN0_t* data = (const IN0_t*)operands.in[0];
  const IN1_t* index = (const IN1_t*)operands.in[1];
  OUT0_t* y = (OUT0_t*)operands.out[0];
  for_each(OUT0_SIZE, [&](int64_t flat) {
    int64_t rest = flat, from = 0, stride = 1;
#pragma unroll
    for (int d = IN0_RANK - 1; d >= 0; --d) {
      int64_t at = rest % OUT0_SHAPE(d);
      rest /= OUT0_SHAPE(d);
      if (d == AXIS) at = bounded((int64_t)index[flat], IN0_SHAPE(d));
      from += at * stride;
      stride *= IN0_SHAPE(d);
    }
    y[flat] = data[from];
  });
}

TABLE Launch amdahl_launches[] = {{0, blocks_for(OUT0_SIZE), 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;
