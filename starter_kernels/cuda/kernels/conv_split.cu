// A convolution whose steps of K are shared by SPLIT_K blocks: their sums wait in the workspace.

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands o) {
  wait_for_producers();
  convolve(o.in, (out_t*)o.out[0], (sum_t*)o.workspace);
}
extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_1(const __grid_constant__ Operands o) {
  wait_for_producers();
  add_parts(o.in, (out_t*)o.out[0], (const sum_t*)o.workspace);
}

TABLE Launch amdahl_launches[] = {{0, BLOCKS, SPLIT_K, 1, THREADS, 1, 1, 0},
                                  {1, O * POSITIONS > 0 ? (O * POSITIONS + THREADS - 1) / THREADS : 1, 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = SPLIT_K * O * POSITIONS * sizeof(sum_t);
