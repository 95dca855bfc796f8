// Movement: the same elements elsewhere, as unsigned integers of their size. The work is a list of strided copies, generated below (copy0, copy1, …);
// run_block finds the copy that a block belongs to.
//
// A copy that runs along memory on one side in one dimension and on the other side in another is a transpose: a block of it has a square of TILE x TILE
// elements, read along the source and written along the result, in shared memory between. Of other copies a block has THREADS * EACH neighbouring points of
// the result.

static inline void run_block(const void* const* in, void* const* out, int64_t block);

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands operands) {
  wait_for_producers();
  for (int64_t block = blockIdx.x; block < BLOCKS; block += gridDim.x) run_block(operands.in, operands.out, block);
}

// move(n) for this thread's points of a block.
template <class Move> static inline void for_points(int64_t block, int64_t points, Move move) {
#pragma unroll
  for (int e = 0; e < EACH; ++e) {
    const int64_t n = (block * EACH + e) * THREADS + threadIdx.x;
    if (n < points) move(n);
  }
}

// to[r * to_stride + c] = from[c * from_stride + r] for the tile's rows r from first_row on and columns c from first_column on.
template <class T>
static inline void transpose_tile(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t first_row, int64_t rows, int64_t first_column,
                                  int64_t columns) {
  __shared__ T tile[TILE][TILE + 1];  // one more, so that a column does not lie in one bank
#pragma unroll
  for (int i = threadIdx.x; i < TILE * TILE; i += THREADS) {
    const int c = i / TILE, r = i % TILE;
    if (first_row + r < rows && first_column + c < columns) tile[c][r] = from[(first_column + c) * from_stride + first_row + r];
  }
  __syncthreads();
#pragma unroll
  for (int i = threadIdx.x; i < TILE * TILE; i += THREADS) {
    const int r = i / TILE, c = i % TILE;
    if (first_row + r < rows && first_column + c < columns) to[(first_row + r) * to_stride + first_column + c] = tile[c][r];
  }
  __syncthreads();  // before the tile is written again
}

// Negative indices count from the end; what is still outside is kept inside: nothing beyond the data is ever read.
template <class I> static inline int64_t index_within(I index, int64_t size) {
  const int64_t i = int64_t(index) < 0 ? int64_t(index) + size : int64_t(index);
  return i < 0 ? 0 : i >= size ? size - 1 : i;
}

TABLE Launch amdahl_launches[] = {{0, BLOCKS == 0 ? 1 : BLOCKS < 0x7fffffff ? BLOCKS : 0x7fffffff, 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;
