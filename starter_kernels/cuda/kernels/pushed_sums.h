// The sums of a tile, from the registers of the warps that multiplied it to memory. Blocks of a cluster that shared its steps of K have WIDTH of its columns
// each: they send each other what they summed of these, as it lies in registers, and add in the blocks' order.

enum : int {
  LINE = 64,  // steps of K that are brought together
  TILE_M = 64 * WARPGROUPS,
  TILE_N = WGMMA_N,
  CONSUMERS = 128 * WARPGROUPS,   // threads that multiply
  EIGHTS = TILE_N / 8 / SPLIT_K,  // groups of eight columns of a block
  WIDTH = EIGHTS * 8,
  SLOT = EIGHTS * CONSUMERS * 16,  // bytes that a block gets of another
  SLOTS = (SPLIT_K - 1) * SLOT,
  // A warp's 16 rows of results, longer by eight: rows that its threads write at a time begin four banks apart.
  RESULT_STEP = WIDTH + 8,
  RESULTS = CONSUMERS / 32 * 16 * RESULT_STEP * int(sizeof(out_t)),
  PIECE = 16 / int(sizeof(out_t)) < 8 ? 16 / int(sizeof(out_t)) : 8,  // adjacent results that one store takes
  EARLY = EIGHTS <= 12,  // the epilogue's operands are read before the sums are there; more would not leave registers for these
  AT_ONCE = 8            // groups whose operands are on their way together where they are read late
};

struct alignas(2 * sizeof(out_t)) TwoResults {
  out_t at[2];
};
struct alignas(PIECE * sizeof(out_t)) PieceOfResults {
  out_t at[PIECE];
};

// This block's columns of all blocks' sums: of rows `lane / 4` and 8 below, of group j columns 8 j + lane % 4 * 2 and the next. `part`: which block this is;
// `slots` and `summed` are in the same place in all of them, and the barrier expects SLOTS bytes.
static inline void add_over_cluster(const float (&sum)[TILE_N / 2], float (&total)[EIGHTS][4], int part, uint8_t* slots, uint64_t* summed) {
  const auto place = [&](int slot, int j) { return slots + ((slot * int(EIGHTS) + j) * int(CONSUMERS) + int(threadIdx.x)) * 16; };
#pragma unroll
  for (int other = 0; other < SPLIT_K; ++other) {
    if (other == part) continue;
#pragma unroll
    for (int j = 0; j < EIGHTS; ++j) send_to_block(place(part < other ? part : part - 1, j), other, sum + (other * EIGHTS + j) * 4, summed);
  }
  if constexpr (SPLIT_K > 1) wait_for_phase(summed, 0);
#pragma unroll
  for (int j = 0; j < EIGHTS; ++j)
#pragma unroll
    for (int c = 0; c < 4; ++c) total[j][c] = 0;
#pragma unroll
  for (int other = 0; other < SPLIT_K; ++other)
#pragma unroll
    for (int j = 0; j < EIGHTS; ++j) {
      Four x = {sum[(other * EIGHTS + j) * 4], sum[(other * EIGHTS + j) * 4 + 1], sum[(other * EIGHTS + j) * 4 + 2], sum[(other * EIGHTS + j) * 4 + 3]};
      if (other != part) x = *(const Four*)place(other < part ? other : other - 1, j);
#pragma unroll
      for (int c = 0; c < 4; ++c) total[j][c] += x.at[c];
    }
}

// A warp's results, `rows` (16 x WIDTH in shared memory), to the first `there` rows and `columns` columns at `to`: adjacent threads store adjacent pieces.
static inline void store_rows(const out_t* rows, out_t* to, int64_t there, int64_t columns) {
  const int lane = threadIdx.x % 32;
  if constexpr (C_ROW % PIECE == 0 && C_OFFSET % PIECE == 0) {
#pragma unroll
    for (int first = 0; first < 16 * WIDTH / PIECE; first += 32) {
      const int i = first + lane, row = i / (WIDTH / PIECE), column = i % (WIDTH / PIECE) * PIECE;
      if (i >= 16 * WIDTH / PIECE || row >= there) continue;
      if (column + PIECE <= columns) *(PieceOfResults*)(to + row * C_ROW + column) = *(const PieceOfResults*)(rows + row * RESULT_STEP + column);
      else
        for (int c = 0; c < PIECE; ++c)
          if (column + c < columns) to[row * C_ROW + column + c] = rows[row * RESULT_STEP + column + c];
    }
  } else {
#pragma unroll 4
    for (int row = 0; row < 16; ++row)
#pragma unroll
      for (int first = 0; first < WIDTH; first += 32)
        if (row < there && first + lane < WIDTH && first + lane < columns) to[row * C_ROW + first + lane] = rows[row * RESULT_STEP + first + lane];
  }
}
