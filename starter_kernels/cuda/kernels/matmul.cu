// C[b] = alpha A[b] B[b], then the epilogue: any strides, any type of number.
//
// A block has a tile of C, a thread TM x TN sums of it (product_tile.h). BK steps of K of both operands wait in shared memory, where they were converted
// once, while the next ones are on their way to registers. Tails are zeros in shared memory.

enum : int { BLOCKS_OF_UNIT = THREADS <= 256 && TM * TN * sizeof(sum_t) <= 256 ? 2 : 1 };  // that registers must suffice for

typedef TileOrder<TILE_M, TILE_N> Order;

// What a thread copies of a tile, LINES rows of A or columns of B by BK steps: vectors of at most MOST numbers along K or along the lines. Neighbouring
// threads read along whichever dimension lies in memory order.
template <class T, int LINES, int MOST, bool ALONG_K>
struct Copy {
  enum : int {
    LENGTH = ALONG_K ? BK : LINES,
    VECTOR = MOST < LENGTH ? MOST : LENGTH,
    ACROSS = LENGTH / VECTOR,
    COUNT = LINES * BK / VECTOR,
    EACH = (COUNT + THREADS - 1) / THREADS
  };
  Vector<T, VECTOR> held[EACH];

  // Calls f(number of the vector, its first line, its first step). Both ACROSS and THREADS are powers of two, so that what depends on the thread is the same
  // for all vectors, and the rest is known when the text is compiled.
  template <class F>
  static inline void for_each(F f) {
    const int thread = threadIdx.x;
#pragma unroll
    for (int e = 0; e < EACH; ++e) {
      const int across = (thread % ACROSS + e * int(THREADS) % ACROSS) * VECTOR, down = thread / ACROSS + e * int(THREADS) / ACROSS;
      if (COUNT % THREADS == 0 || e * int(THREADS) + thread < COUNT) f(e, ALONG_K ? down : across, ALONG_K ? across : down);
    }
  }

  // Zeros beyond `lines` and `steps`; a vector lies wholly inside or outside.
  template <int64_t LINE_STRIDE, int64_t STEP_STRIDE>
  inline void fetch(const T* from, int64_t lines, int64_t steps) {
    const int some_lines = least(lines, LINES), some_steps = least(steps, BK);
    for_each([&](int e, int line, int step) {
      held[e] = {};
      if (line < some_lines && step < some_steps) held[e] = load_vector<VECTOR>(from + line * LINE_STRIDE + step * STEP_STRIDE);
    });
  }

  template <int STEP, class F>
  inline void put(sum_t (&tile)[BK][STEP], F load) const {
    enum : int { TOGETHER = !ALONG_K && STEP % WIDE == 0 ? (VECTOR < WIDE ? VECTOR : WIDE) : 1 };  // in one store
    for_each([&](int e, int line, int step) {
#pragma unroll
      for (int v = 0; v < VECTOR; v += TOGETHER) {
        Vector<sum_t, TOGETHER> converted;
#pragma unroll
        for (int t = 0; t < TOGETHER; ++t) converted.at[t] = load(held[e].at[v + t]);
        *(Vector<sum_t, TOGETHER>*)&tile[step + (ALONG_K ? v : 0)][line + (ALONG_K ? 0 : v)] = converted;
      }
    });
  }
};

// value(column of the thread, n) for the columns of a row that exist, VECTOR in a store: that many lie wholly inside or outside.
template <int VECTOR, class T, class F>
static inline void store_columns(T* row, int64_t stride, int64_t first_n, F value) {
#pragma unroll
  for (int j = 0; j < TN; j += VECTOR) {
    const int64_t n = first_n + tile_column(thread_column(), j);
    if (n >= N) continue;
    Vector<T, VECTOR> together;
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) together.at[v] = value(j + v, n + v);
    *(Vector<T, VECTOR>*)(row + n * stride) = together;
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_OF_UNIT) amdahl_kernel_0(const __grid_constant__ Operands o) {
  wait_for_producers();
  __shared__ Tiles tiles[2];
  const Place first = Order::first_of(blockIdx.x);
  constexpr int64_t PART = steps_of_part<BK>();
  const int64_t first_k = blockIdx.y * PART, end_k = least(first_k + PART, K);
  const auto convert_a = [](a_t x) { return load_a(x); };
  const auto convert_b = [](b_t x) { return load_b(x); };
  for (int64_t batch = blockIdx.z; batch < BATCH; batch += gridDim.z) {
    const a_t* a = (const a_t*)o.in[0] + begin_of_a(batch) + first.m * A_ROW;
    const b_t* b = (const b_t*)o.in[1] + begin_of_b(batch) + first.n * B_COLUMN;
    Copy<a_t, TILE_M, A_VECTOR, A_COLUMN == 1> copy_a;
    Copy<b_t, TILE_N, B_VECTOR, B_COLUMN != 1> copy_b;
    const auto fetch = [&](int64_t k) {
      copy_a.fetch<A_ROW, A_COLUMN>(a + k * A_COLUMN, M - first.m, end_k - k);
      copy_b.fetch<B_COLUMN, B_ROW>(b + k * B_ROW, N - first.n, end_k - k);
    };
    const auto put = [&](Tiles& to) { copy_a.put(to.a, convert_a), copy_b.put(to.b, convert_b); };

    sum_t sum[TM][TN] = {};
    fetch(first_k);
    put(tiles[0]);
    __syncthreads();
    for (int64_t k = first_k, step = 0; k < end_k; k += BK, ++step) {
      if (k + BK < end_k) fetch(k + BK);
      add_products(tiles[step % 2], sum);
      if (k + BK < end_k) put(tiles[(step + 1) % 2]);
      __syncthreads();  // all have the steps that are next, and none needs those of now any more
    }

#pragma unroll
    for (int i = 0; i < TM; ++i) {
      const int64_t m = first.m + thread_row() * int(TM) + i;
      if (m >= M) continue;
      if constexpr (SPLIT_K == 1)
        store_columns<(C_VECTOR < ADJACENT ? C_VECTOR : ADJACENT)>((out_t*)o.out[0] + begin_of_c(batch) + m * C_ROW, C_COLUMN, first.n,
                                                                   [&](int j, int64_t n) { return finish(sum[i][j] ALPHA, o.in, batch, m, n); });
      else
        store_columns<(PART_VECTOR < ADJACENT ? PART_VECTOR : ADJACENT)>(row_of_part(o, batch, m), 1, first.n, [&](int j, int64_t) { return sum[i][j]; });
    }
  }
}

#define MATMUL_LAUNCH {0, Order::TILES_M * Order::TILES_N, SPLIT_K, BATCH > 0 ? (BATCH < 65535 ? BATCH : 65535) : 1, THREADS, 1, 1, 0}
