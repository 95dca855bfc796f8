// After a product whose steps of K were shared by SPLIT_K blocks: the sums of their sums, in order. A thread has one element of C.

enum : int { ADDING_THREADS = 256 };

extern "C" __global__ void __launch_bounds__(ADDING_THREADS) amdahl_kernel_1(const __grid_constant__ Operands o) {
  wait_for_producers();
  const int64_t i = blockIdx.x * int64_t(ADDING_THREADS) + threadIdx.x;
  if (i >= BATCH * M * N) return;
  const sum_t* parts = (const sum_t*)o.workspace + i;
  sum_t sum = parts[0];
#pragma unroll
  for (int part = 1; part < SPLIT_K; ++part) sum += parts[part * (BATCH * M * N)];
  const int64_t batch = i / (M * N), m = i / N % M, n = i % N;
  ((out_t*)o.out[0])[begin_of_c(batch) + m * C_ROW + n * C_COLUMN] = finish(sum ALPHA, o.in, batch, m, n);
}

#define PARTS_LAUNCH {1, BATCH * M * N > 0 ? (BATCH * M * N + ADDING_THREADS - 1) / ADDING_THREADS : 1, 1, 1, ADDING_THREADS, 1, 1, 0}
