// y = project(depthwise(expand(x))) in three launches: what lies between waits in the workspace. Each convolution is a text of its own in a namespace of
// its own (conv_implicit_gemm.cu, conv_depthwise.cu), and reads its operands as if it stood alone.

enum : int64_t {
  WIDE_BYTES = expand::O * expand::POSITIONS * sizeof(expand::out_t),
  DEEP_BYTES = depthwise::PLANES * depthwise::PIXELS * sizeof(depthwise::out_t),
  AT_DEEP = (WIDE_BYTES + 255) / 256 * 256
};

extern "C" __global__ void __launch_bounds__(expand::THREADS) amdahl_kernel_0(const __grid_constant__ Operands o) {
  wait_for_producers();
  const void* const in[] = {o.in[0], o.in[1] EXPAND_EXTRAS};
  expand::convolve(in, (expand::out_t*)o.workspace, nullptr);
}

extern "C" __global__ void __launch_bounds__(depthwise::THREADS) amdahl_kernel_1(const __grid_constant__ Operands o) {
  wait_for_producers();
  const void* const in[] = {o.workspace, o.in[2] DEPTHWISE_EXTRAS};
  depthwise::convolve(in, (depthwise::out_t*)((char*)o.workspace + AT_DEEP), nullptr);
}

extern "C" __global__ void __launch_bounds__(project::THREADS) amdahl_kernel_2(const __grid_constant__ Operands o) {
  wait_for_producers();
  const void* const in[] = {(const char*)o.workspace + AT_DEEP, o.in[3] PROJECT_EXTRAS};
  project::convolve(in, (project::out_t*)o.out[0], nullptr);
}

TABLE Launch amdahl_launches[] = {{0, expand::BLOCKS, 1, 1, expand::THREADS, 1, 1, 0},
                                  {1, depthwise::BLOCKS, 1, 1, depthwise::THREADS, 1, 1, 0},
                                  {2, project::BLOCKS, 1, 1, project::THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = AT_DEEP + DEEP_BYTES;
