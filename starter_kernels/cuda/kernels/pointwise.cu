// Pointwise: every element of the outputs from the elements of the inputs at the same place. run_point is generated above.
//
// A block has THREADS * EACH neighbouring points; a warp's 32 loads of one step are adjacent where the operand is dense.

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands o) {
  wait_for_producers();
  const int64_t first = blockIdx.x * (THREADS * EACH) + threadIdx.x;
#pragma unroll
  for (int e = 0; e < EACH; ++e) {
    const int64_t n = first + e * THREADS;
    if (n < POINTS) run_point(o.in, o.out, n);
  }
}

TABLE Launch amdahl_launches[] = {{0, POINTS > 0 ? (POINTS + THREADS * EACH - 1) / (THREADS * EACH) : 1, 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;
