// After attention whose keys were shared by PARTS blocks: their rows together, each weighed by how far its maximum lies below that of all. A thread has
// one element of the result.

enum : int { ADDING_THREADS = 128 };

extern "C" __global__ void __launch_bounds__(ADDING_THREADS) amdahl_kernel_2(const __grid_constant__ Operands o) {
  wait_for_producers();
  const int64_t i = blockIdx.x * int64_t(ADDING_THREADS) + threadIdx.x;
  if (i >= HEADS * S * DV) return;
  const int64_t row = i / DV, column = i % DV, head = row / S, s = row % S;
  const sum_t *statistics = (const sum_t*)((const char*)o.workspace + AT_STATISTICS), *rows = (const sum_t*)((const char*)o.workspace + AT_ROWS);
  sum_t top = -sum_t(__builtin_inff());
  for (int part = 0; part < PARTS; ++part) top = larger(statistics[2 * (part * (HEADS * S) + row)], top);
  const sum_t subtract = subtracted(top);
  sum_t sum = 0, result = 0;
  for (int part = 0; part < PARTS; ++part) {
    const int64_t at = part * (HEADS * S) + row;
    const sum_t factor = scalar::exp(statistics[2 * at] - subtract);
    sum += statistics[2 * at + 1] * factor;
    result += rows[at * DV + column] * factor;
  }
  ((out_t*)o.out[0])[out_head(head) + s * OUT_ROW + column * OUT_COLUMN] = store_out(result_of(o, head, column, result, sum));
}

#define PARTS_LAUNCH {2, (HEADS * S * DV + ADDING_THREADS - 1) / ADDING_THREADS, 1, 1, ADDING_THREADS, 1, 1, 0}
