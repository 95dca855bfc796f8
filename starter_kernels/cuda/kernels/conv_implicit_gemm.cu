// Convolution as a product: output channels of a group x positions of all images = weights x what each position's window sees of the input, which is
// gathered when it is needed and stored nowhere. Row-major operands.
//
// A block has TILE_M channels x TILE_N positions; K = channels x taps. Where the output has too few tiles for the card, SPLIT_K blocks share the steps of
// K of each and add_parts() adds their sums.

enum : int { STEPS = (K + BK - 1) / BK, PART = (STEPS + SPLIT_K - 1) / SPLIT_K * BK };
enum : int64_t { TILES_O = OG > 0 ? (OG + TILE_M - 1) / TILE_M : 1, TILES_P = POSITIONS > 0 ? (POSITIONS + TILE_N - 1) / TILE_N : 1 };
enum : int64_t { BLOCKS = TILES_O * TILES_P * G };
// Positions that a thread gathers: always the same. Where there are fewer than threads, threads share their steps.
enum : int { COLUMNS = TILE_N > THREADS ? TILE_N / THREADS : 1, ROWS = THREADS > TILE_N ? THREADS / TILE_N : 1 };

static inline sum_t gather(const Position& p, int k) {
  const x_t* at = seen(p, k % TAPS);
  return at ? load_x(at[index_t(k / TAPS) * index_t(IN_PIXELS)]) : sum_t(0);
}

static inline void convolve(const void* const* in, out_t* out, sum_t* parts) {
  __shared__ Tiles tiles;
  const int thread = threadIdx.x;
  // Tiles of channels are neighbours: blocks that run together see the same input.
  const int64_t first_o = blockIdx.x % TILES_O * TILE_M, group = blockIdx.x / TILES_O % G, first_p = blockIdx.x / TILES_O / G * TILE_N;
  const int first_k = int(blockIdx.y) * PART, end_k = first_k + PART < K ? first_k + PART : K;
  const w_t* weights = (const w_t*)in[1] + (group * OG + first_o) * K;
  Position positions[COLUMNS];
#pragma unroll
  for (int c = 0; c < COLUMNS; ++c) positions[c] = position((const x_t*)in[0], group, first_p + thread % TILE_N + c * THREADS);

  sum_t sum[TM][TN] = {};
  for (int k0 = first_k; k0 < end_k; k0 += BK) {
    for_own<TILE_M * BK, THREADS>([&](int i) {
      const int o = i / int(BK), k = i % int(BK);
      tiles.a[k][o] = first_o + o < OG && k0 + k < end_k ? load_w(weights[index_t(o) * K + k0 + k]) : sum_t(0);
    });
#pragma unroll
    for (int first = 0; first < BK; first += ROWS) {
      const int k = first + thread / TILE_N;
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c)
        if (BK % ROWS == 0 || k < BK) tiles.b[k][thread % TILE_N + c * THREADS] = k0 + k < end_k ? gather(positions[c], k0 + k) : sum_t(0);
    }
    __syncthreads();
    add_products(tiles, sum);
    __syncthreads();
  }

#pragma unroll
  for (int j = 0; j < TN; ++j) {
    const int64_t p = first_p + tile_column(thread_column(), j);
    if (p >= POSITIONS) continue;
    const int64_t n = p / PIXELS, pixel = p % PIXELS;
#pragma unroll
    for (int i = 0; i < TM; ++i) {
      const int64_t o_of_group = first_o + thread_row() * int(TM) + i, o = group * OG + o_of_group;
      if (o_of_group >= OG) continue;
      if constexpr (SPLIT_K == 1) out[(n * O + o) * PIXELS + pixel] = finish(sum[i][j], in, n, o, pixel);
      else parts[(blockIdx.y * O + o) * POSITIONS + p] = sum[i][j];
    }
  }
}

// The element of [O, POSITIONS] that is this thread's, from all parts, in their order.
static inline void add_parts(const void* const* in, out_t* out, const sum_t* parts) {
  const int64_t i = blockIdx.x * int64_t(THREADS) + threadIdx.x;
  if (i >= O * POSITIONS) return;
  sum_t sum = parts[i];
  for (int part = 1; part < SPLIT_K; ++part) sum += parts[part * (O * POSITIONS) + i];
  const int64_t o = i / POSITIONS, p = i % POSITIONS, n = p / PIXELS, pixel = p % PIXELS;
  out[(n * O + o) * PIXELS + pixel] = finish(sum, in, n, o, pixel);
}
