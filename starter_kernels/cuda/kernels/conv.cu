// A convolution in one launch. convolve() is generated or given above.

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands o) { wait_for_producers(); convolve(o.in, (out_t*)o.out[0], nullptr); }

TABLE Launch amdahl_launches[] = {{0, BLOCKS, 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;
