// Pooling over whole images of channels last. A block has GROUP vectors of VECTOR adjacent channels of one image: LANES threads a vector join every LANES-th
// pixel, then a warp's lanes join theirs by shuffles, and a thread a channel what the warps have.

enum : int64_t { PIXELS = ID * IH * IW, VECTORS = C / VECTOR, GROUPS = (VECTORS + GROUP - 1) / GROUP };
enum : int { THREADS = LANES * GROUP, WARPS = THREADS / 32, CHANNELS = GROUP * VECTOR };

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands o) {
  wait_for_producers();
  __shared__ sum_t of_warp[WARPS][CHANNELS];
  const int vector = threadIdx.x % GROUP, lane = threadIdx.x / GROUP;
  const int64_t image = blockIdx.x / GROUPS, first = blockIdx.x % GROUPS * GROUP;
  sum_t sum[VECTOR];
#pragma unroll
  for (int v = 0; v < VECTOR; ++v) sum[v] = EMPTY;
  if (first + vector < VECTORS) {
    const x_t* x = (const x_t*)o.in[0] + image * PIXELS * C + (first + vector) * VECTOR;
#pragma unroll 8
    for (int64_t p = lane; p < PIXELS; p += LANES) {
      const Vector<x_t, VECTOR> some = load_vector<VECTOR>(x + p * C);
#pragma unroll
      for (int v = 0; v < VECTOR; ++v) sum[v] = join(sum[v], load_x(some.at[v]));
    }
  }
#pragma unroll
  for (int distance = 16; distance >= GROUP; distance /= 2)
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) sum[v] = join(sum[v], sum_t(__shfl_xor_sync(0xffffffffu, sum[v], distance)));
  if (threadIdx.x % 32 < GROUP)
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) of_warp[threadIdx.x / 32][vector * int(VECTOR) + v] = sum[v];
  __syncthreads();
#pragma unroll
  for (int turn = 0; turn < CHANNELS; turn += THREADS) {
    const int c = turn + threadIdx.x;
    const int64_t channel = first * VECTOR + c;
    if (c >= CHANNELS || channel >= C) continue;
    sum_t all = of_warp[0][c];
#pragma unroll
    for (int w = 1; w < WARPS; ++w) all = join(all, of_warp[w][c]);
    ((out_t*)o.out[0])[image * C + channel] = finish_window(all, PIXELS);
  }
}

TABLE Launch amdahl_launches[] = {{0, N * GROUPS > 0 ? N * GROUPS : 1, 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;
