// The first in[1][b] steps of every batch entry b in reverse order, the rest as they are.
extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands operands) {
  wait_for_producers();
  const IN0_t* x = (const IN0_t*)operands.in[0];
  const IN1_t* lengths = (const IN1_t*)operands.in[1];
  for_each(ROWS * COLUMNS * SLICE, [&](int64_t n) {
    const int64_t c = n / SLICE % COLUMNS, r = n / SLICE / COLUMNS;
    const int64_t time = TIME_FIRST ? r : c, batch = TIME_FIRST ? c : r, steps = TIME_FIRST ? ROWS : COLUMNS;
    int64_t length = (int64_t)lengths[batch];
    length = length < 0 ? 0 : length > steps ? steps : length;
    const int64_t from = time < length ? length - 1 - time : time;
    const int64_t source = TIME_FIRST ? from * COLUMNS + c : r * COLUMNS + from;
    ((OUT0_t*)operands.out[0])[n] = x[source * SLICE + n % SLICE];
  });
}

TABLE Launch amdahl_launches[] = {{0, blocks_for(ROWS * COLUMNS * SLICE), 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;
