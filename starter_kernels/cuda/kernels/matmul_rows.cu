// C = alpha A B of few rows, then the epilogue: every number of B is read once, in wide loads along whichever of its dimensions lies in memory order.
//
// All rows of a column are sums of the same threads. UNROLL loads of a thread are on their way together. Where C has too few columns for the card,
// SPLIT_K blocks share the steps of K.

enum : int { THREADS = 32 * WARPS, VECTOR = B_VECTOR };
enum : bool { ALONG_COLUMNS = B_ROW != 1 };  // otherwise a column of B lies in memory order, as a single one does
enum : int { COLUMNS = ALONG_COLUMNS ? 32 * VECTOR : WARPS };  // of a block
enum : int64_t { BLOCKS = N > 0 ? (N + COLUMNS - 1) / COLUMNS : 1 };

static inline void put(const Operands& o, int64_t m, int64_t n, sum_t sum) {
  if constexpr (SPLIT_K == 1) ((out_t*)o.out[0])[begin_of_c(0) + m * C_ROW + n * C_COLUMN] = finish(sum ALPHA, o.in, 0, m, n);
  else row_of_part(o, 0, m)[n] = sum;
}

// Calls sums.add<COUNT>(k) for the steps k, k + STRIDE, … before `end`, COUNT of them together: their loads have no test between them and are on their way
// at once. Those that are left come in halves of COUNT.
template <int COUNT, int STRIDE, class Sums>
static inline void add_steps(int64_t k, int64_t end, Sums& sums) {
#pragma unroll 1
  for (; k + (COUNT - 1) * STRIDE < end; k += COUNT * STRIDE) sums.template add<COUNT>(k);
  if constexpr (COUNT > 1) add_steps<COUNT / 2, STRIDE>(k, end, sums);
}

// A lane has VECTOR adjacent columns, and the warps of a block take turns along K.
struct SumsOfColumns {
  const a_t* a;
  const b_t* b;  // the lane's columns
  sum_t sum[M][VECTOR];

  template <int COUNT>
  inline void add(int64_t k) {
    Vector<b_t, VECTOR> of_b[COUNT];
    sum_t of_a[COUNT][M];
#pragma unroll
    for (int u = 0; u < COUNT; ++u) {
      of_b[u] = load_vector<VECTOR>(b + (k + u * int(WARPS)) * B_ROW);
#pragma unroll
      for (int m = 0; m < M; ++m) of_a[u][m] = load_a(a[m * A_ROW + (k + u * int(WARPS)) * A_COLUMN]);
    }
#pragma unroll
    for (int u = 0; u < COUNT; ++u)
#pragma unroll
      for (int v = 0; v < VECTOR; ++v) {
        const sum_t x = load_b(of_b[u].at[v]);
#pragma unroll
        for (int m = 0; m < M; ++m) sum[m][v] += of_a[u][m] * x;
      }
  }
};

static inline void multiply_along_columns(const Operands& o, const a_t* a, const b_t* b, int64_t first_k, int64_t end_k) {
  __shared__ sum_t shared[WARPS][COLUMNS];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int64_t first_n = blockIdx.x * int64_t(COLUMNS), n = first_n + lane * VECTOR;
  SumsOfColumns sums = {a, b + n};
  if (n < N) add_steps<UNROLL, WARPS>(first_k + warp, end_k, sums);
#pragma unroll
  for (int m = 0; m < M; ++m) {
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) shared[warp][lane * VECTOR + v] = sums.sum[m][v];
    __syncthreads();
    for (int column = threadIdx.x; column < COLUMNS && first_n + column < N; column += THREADS) {
      sum_t all = shared[0][column];
#pragma unroll
      for (int w = 1; w < WARPS; ++w) all += shared[w][column];
      put(o, m, first_n + column, all);
    }
    __syncthreads();  // the next row takes the same place
  }
}

// VECTOR numbers of a row of A from step k on.
static inline void load_steps(const a_t* row, int64_t k, sum_t (&to)[VECTOR]) {
  enum : int { TOGETHER = A_COLUMN != 1 ? 1 : A_VECTOR < VECTOR ? A_VECTOR : VECTOR };
#pragma unroll
  for (int v = 0; v < VECTOR; v += TOGETHER) {
    const Vector<a_t, TOGETHER> x = load_vector<TOGETHER>(row + (k + v) * A_COLUMN);
#pragma unroll
    for (int t = 0; t < TOGETHER; ++t) to[v + t] = load_a(x.at[t]);
  }
}

// A warp has a column, a lane VECTOR adjacent steps of K at a time.
struct SumsOfSteps {
  enum : int { STRIDE = 32 * VECTOR };  // of the warp
  const a_t* a;
  const b_t* b;  // the column
  sum_t sum[M];

  template <int COUNT>
  inline void add(int64_t k) {
    Vector<b_t, VECTOR> of_b[COUNT];
#pragma unroll
    for (int u = 0; u < COUNT; ++u) of_b[u] = load_vector<VECTOR>(b + k + u * STRIDE);
#pragma unroll
    for (int u = 0; u < COUNT; ++u)
#pragma unroll
      for (int m = 0; m < M; ++m) {
        sum_t of_a[VECTOR];
        load_steps(a + m * A_ROW, k + u * STRIDE, of_a);
#pragma unroll
        for (int v = 0; v < VECTOR; ++v) sum[m] += of_a[v] * load_b(of_b[u].at[v]);
      }
  }
};

static inline void multiply_along_steps(const Operands& o, const a_t* a, const b_t* b, int64_t first_k, int64_t end_k) {
  const int lane = threadIdx.x % 32;
  const int64_t n = blockIdx.x * int64_t(COLUMNS) + threadIdx.x / 32;
  if (n >= N) return;  // the whole warp
  SumsOfSteps sums = {a, b + n * B_COLUMN};
  add_steps<UNROLL, SumsOfSteps::STRIDE>(first_k + lane * VECTOR, end_k, sums);
#pragma unroll
  for (int m = 0; m < M; ++m) {
    sum_t sum = sums.sum[m];
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance);
    if (lane == m) put(o, m, n, sum);
  }
}

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands o) {
  wait_for_producers();
  constexpr int64_t PART = steps_of_part<VECTOR>();
  const int64_t first_k = blockIdx.y * PART, end_k = least(first_k + PART, K);
  const a_t* a = (const a_t*)o.in[0] + begin_of_a(0);
  const b_t* b = (const b_t*)o.in[1] + begin_of_b(0);
  if constexpr (ALONG_COLUMNS) multiply_along_columns(o, a, b, first_k, end_k);
  else multiply_along_steps(o, a, b, first_k, end_k);
}

#define MATMUL_LAUNCH {0, BLOCKS, SPLIT_K, 1, THREADS, 1, 1, 0}
