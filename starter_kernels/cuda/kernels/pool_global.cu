// Pooling over whole planes. A block has PLANES of them, THREADS threads each: a thread joins every THREADS-th element, then warps join theirs by shuffles
// and a plane's first thread what its warps have.

enum : int64_t { SIZE = ID * IH * IW, ALL_PLANES = N * C };
enum : int { WARPS = THREADS / 32 };

extern "C" __global__ void __launch_bounds__(PLANES * THREADS) amdahl_kernel_0(const __grid_constant__ Operands o) {
  wait_for_producers();
  __shared__ sum_t of_warp[PLANES][WARPS];
  const int mine = threadIdx.x / THREADS, thread = threadIdx.x % THREADS;
  const int64_t plane = blockIdx.x * PLANES + mine;
  sum_t sum = EMPTY;
  if (plane < ALL_PLANES) {
    const x_t* x = (const x_t*)o.in[0] + plane * SIZE;
#pragma unroll 4
    for (int64_t i = thread; i < SIZE; i += THREADS) sum = join(sum, load_x(x[i]));
  }
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) sum = join(sum, sum_t(__shfl_xor_sync(0xffffffffu, sum, distance)));
  if (thread % 32 == 0) of_warp[mine][thread / 32] = sum;
  __syncthreads();
  if (thread > 0 || plane >= ALL_PLANES) return;
#pragma unroll
  for (int w = 1; w < WARPS; ++w) sum = join(sum, of_warp[mine][w]);
  ((out_t*)o.out[0])[plane] = finish_window(sum, SIZE);
}

TABLE Launch amdahl_launches[] = {{0, ALL_PLANES > 0 ? (ALL_PLANES + PLANES - 1) / PLANES : 1, 1, 1, PLANES * THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;
