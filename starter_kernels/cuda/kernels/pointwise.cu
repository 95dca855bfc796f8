// Pointwise: every element of the outputs from the elements of the inputs at the same place. Inputs and write() are generated above.
//
// A block has THREADS * EACH neighbouring pieces of PIECE points; a warp's 32 loads of one step are adjacent where the operand is dense. A thread's loads are
// all on their way before it stores: it would have to wait with those that follow a store, which might write what they read.
enum : long long { PIECES = POINTS / PIECE, BLOCK_PIECES = THREADS * EACH };
enum : bool { WHOLE = PIECES > 0 && PIECES % BLOCK_PIECES == 0 };  // every block has as many

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands o) {
  wait_for_producers();
  const int64_t first = blockIdx.x * BLOCK_PIECES + threadIdx.x;
  Inputs inputs[EACH];
#pragma unroll
  for (int e = 0; e < EACH; ++e) {
    const int64_t n = first + e * THREADS;
    if (WHOLE || n < PIECES) inputs[e] = load_Inputs(o.in, n * PIECE);
  }
#pragma unroll
  for (int e = 0; e < EACH; ++e) {
    const int64_t n = first + e * THREADS;
    if (WHOLE || n < PIECES) write(inputs[e], o.out, n * PIECE);
  }
}

TABLE Launch amdahl_launches[] = {{0, PIECES > 0 ? (PIECES + BLOCK_PIECES - 1) / BLOCK_PIECES : 1, 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;
