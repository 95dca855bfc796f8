// The sums of a tile, from the registers of the warps that multiplied it to whoever stores them, in the order of memory; and of all blocks of a cluster that
// shared its steps of K.

enum : int {
  TILE_M = 64 * WARPGROUPS,
  TILE_N = WGMMA_N,
  THREADS = 128 * WARPGROUPS,
  SUM_STEP = TILE_N + 8,  // of rows in shared memory: four of them have 32 banks for the 8 numbers that a row's threads write at a time
  SUMS = TILE_M * SUM_STEP * 4,
  FOURS = TILE_M * TILE_N / 4 / SPLIT_K,  // of this block
  FOURS_OF_THREAD = (FOURS + THREADS - 1) / THREADS
};

// Four adjacent results, where they lie evenly.
struct alignas(4 * sizeof(out_t)) FourResults {
  out_t at[4];
};

static inline void meet() {
  if constexpr (SPLIT_K > 1) meet_cluster();
  else __syncthreads();
}

// Through `sums` in shared memory, which nothing else may use meanwhile: `store(row, column, four)` gets four adjacent sums of the tile, added over the
// cluster's blocks in their order. All loads of a thread are on their way together.
template <class F>
static inline void add_and_store(const float (&sum)[TILE_N / 2], float* sums, F store) {
  __syncthreads();
  visit_sums(sum, [&](int row, int column, float x, float y) { *(Pair*)(sums + row * SUM_STEP + column) = {x, y}; });
  meet();
  const int first = (SPLIT_K > 1 ? int(blockIdx.y) : 0) * FOURS + threadIdx.x;
  Four part[FOURS_OF_THREAD][SPLIT_K];
#pragma unroll
  for (int p = 0; p < FOURS_OF_THREAD; ++p) {
    const int i = first + p * THREADS, row = i / (TILE_N / 4), column = i % (TILE_N / 4) * 4;
    if (FOURS % THREADS != 0 && p * THREADS + int(threadIdx.x) >= FOURS) continue;
#pragma unroll
    for (int block = 0; block < SPLIT_K; ++block)
      part[p][block] = SPLIT_K > 1 ? read_of_block(sums + row * SUM_STEP + column, block) : *(const Four*)(sums + row * SUM_STEP + column);
  }
#pragma unroll
  for (int p = 0; p < FOURS_OF_THREAD; ++p) {
    const int i = first + p * THREADS;
    if (FOURS % THREADS != 0 && p * THREADS + int(threadIdx.x) >= FOURS) continue;
    Four total = part[p][0];
#pragma unroll
    for (int block = 1; block < SPLIT_K; ++block)
#pragma unroll
      for (int j = 0; j < 4; ++j) total.at[j] += part[p][block].at[j];
    store(i / (TILE_N / 4), i % (TILE_N / 4) * 4, total);
  }
  meet();  // none reads here any more
}
