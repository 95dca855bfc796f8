// The sums of a tile, from the registers of the warps that multiplied it to whoever stores them, in the order of memory; and of all blocks of a cluster that
// shared its steps of K, each of which has some of the tile's rows to add and store.

enum : int {
  TILE_M = 64 * WARPGROUPS,
  TILE_N = WGMMA_N,
  THREADS = 128 * WARPGROUPS,
  ROWS = TILE_M / SPLIT_K,  // of this block
  SUM_STEP = TILE_N + 8,    // of rows in shared memory: four of them have 32 banks for the 8 numbers that a row's threads write at a time
  SUMS = TILE_M * SUM_STEP * 4,
  FOURS = ROWS * TILE_N / 4,
  FOURS_OF_THREAD = (FOURS + THREADS - 1) / THREADS
};
// Beside the tiles that are multiplied, where other blocks write while this one is not done; else in their place.
static inline constexpr int place_of_sums(int tiles) { return SPLIT_K > 1 ? tiles : 0; }
static inline constexpr int bytes_with_sums(int tiles) { return SPLIT_K > 1 ? tiles + SUMS : tiles > SUMS ? tiles : SUMS; }

// Four adjacent results, where they lie evenly.
struct alignas(4 * sizeof(out_t)) FourResults {
  out_t at[4];
};

// Before add_and_store(), by all threads: from here on this block's memory may be written to by the others.
static inline void join_cluster() {
  if constexpr (SPLIT_K > 1) arrive_at_cluster();
}

// Every sum goes to the block that adds it: a barrier later each has all it needs, and none reads another's memory, which may be gone. `finish(row, column,
// four)` makes FourResults of four adjacent sums of the tile, added over the cluster's blocks in their order, and `store(row, column, results)` has them
// stored; what a thread finishes is loaded before it stores the first. AGAIN: another tile follows.
template <bool AGAIN, class F, class S>
static inline void add_and_store(const float (&sum)[TILE_N / 2], float* sums, F finish, S store) {
  const int rank = SPLIT_K > 1 ? int(blockIdx.y) : 0;
  if constexpr (SPLIT_K > 1) wait_for_cluster();
  else __syncthreads();
  visit_sums(sum, [&](int row, int column, float x, float y) {
    if constexpr (SPLIT_K > 1)
      write_in_block(place_in_block(sums, row / ROWS) + ((rank * ROWS + row % ROWS) * SUM_STEP + column) * 4, {x, y});
    else *(Pair*)(sums + row * SUM_STEP + column) = {x, y};
  });
  if constexpr (SPLIT_K > 1) {
    arrive_at_cluster();
    wait_for_cluster();
  } else {
    __syncthreads();
  }
  FourResults results[FOURS_OF_THREAD];
#pragma unroll
  for (int p = 0; p < FOURS_OF_THREAD; ++p) {
    const int i = p * THREADS + int(threadIdx.x), row = i / (TILE_N / 4), column = i % (TILE_N / 4) * 4;
    if (FOURS % THREADS != 0 && i >= FOURS) continue;
    Four total = *(const Four*)(sums + row * SUM_STEP + column);
#pragma unroll
    for (int block = 1; block < SPLIT_K; ++block) {
      const Four part = *(const Four*)(sums + (block * ROWS + row) * SUM_STEP + column);
#pragma unroll
      for (int j = 0; j < 4; ++j) total.at[j] += part.at[j];
    }
    results[p] = finish(rank * ROWS + row, column, total);
  }
#pragma unroll
  for (int p = 0; p < FOURS_OF_THREAD; ++p) {
    const int i = p * THREADS + int(threadIdx.x), row = i / (TILE_N / 4), column = i % (TILE_N / 4) * 4;
    if (FOURS % THREADS == 0 || i < FOURS) store(rank * ROWS + row, column, results[p]);
  }
  if constexpr (AGAIN) {
    if constexpr (SPLIT_K > 1) arrive_at_cluster();
    else __syncthreads();
  }
}
// After the last of several tiles.
static inline void leave_cluster() {
  if constexpr (SPLIT_K > 1) wait_for_cluster();
}
