// C = alpha A B of at most eight rows, of half floats whose sums are floats, by a constant B, then the epilogue: B is in registers before A is there.
//
// A block has 16 columns of C, its warps share the steps of K: 32 of them, a group, at a time. B is packed at load (amdahl_kernel_1) in the order in which
// tensor cores want it as their first operand, 16 bytes a thread and 16 steps, so that HELD groups of a warp come in loads that nothing separates, while the
// kernels before still run. Rows of A are the columns of the second operand: of a group a thread has eight adjacent steps of one row.

enum : int {
  THREADS = 32 * WARPS,
  COLUMNS = 16,
  ROWS = 8,
  GROUP = 32,
  GROUPS = (K + GROUP - 1) / GROUP,
  EACH = (GROUPS + WARPS - 1) / WARPS,  // of a warp
  AT_ONCE = EACH < HELD ? EACH : HELD
};
enum : int64_t { BLOCKS = (N + COLUMNS - 1) / COLUMNS };

typedef Vector<uint32_t, 4> Sixteen;

// Groups first … first + AT_ONCE - 1 of those before `end`; zeros behind them.
struct HeldGroups {
  Sixteen of_b[AT_ONCE][2];

  inline void load(const Sixteen* b, int first, int end) {
#pragma unroll
    for (int g = 0; g < AT_ONCE; ++g)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        if (first + g < end) of_b[g][half] = b[((first + g) * 2 + half) * 32];
        else of_b[g][half] = Sixteen{};
  }
  // `a`: the thread's row of A, at its steps of a group.
  inline void add(const uint16_t* a, bool is_row, int first, float (&sum)[4]) const {
    Sixteen of_a[AT_ONCE];
#pragma unroll
    for (int g = 0; g < AT_ONCE; ++g) {
      const int64_t k = (first + g) * int64_t(GROUP);
      if (is_row && k + int(threadIdx.x) % 4 * 8 < K) of_a[g] = *(const Sixteen*)(a + k);
      else of_a[g] = Sixteen{};
    }
#pragma unroll
    for (int g = 0; g < AT_ONCE; ++g) {
      multiply_add(sum, of_b[g][0].at, of_a[g].at[0], of_a[g].at[1]);
      multiply_add(sum, of_b[g][1].at, of_a[g].at[2], of_a[g].at[3]);
    }
  }
};

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands o) {
  __shared__ float parts[WARPS][ROWS][COLUMNS];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = lane / 4;
  const int first = warp * EACH, end = first + EACH < GROUPS ? first + EACH : GROUPS;
  const Sixteen* b = (const Sixteen*)o.in[1] + blockIdx.x * int64_t(GROUPS * 64) + lane;
  HeldGroups held;
  held.load(b, first, end);
  wait_for_producers();
  const uint16_t* a = (const uint16_t*)o.in[0] + A_OFFSET + row * A_ROW + lane % 4 * 8;
  float sum[4] = {};
  held.add(a, row < M, first, sum);
#pragma unroll 1
  for (int next = first + AT_ONCE; next < end; next += AT_ONCE) {
    held.load(b, next, end);
    held.add(a, row < M, next, sum);
  }

  // Of C a thread has columns `row` and 8 behind, rows lane % 4 * 2 and the next.
#pragma unroll
  for (int i = 0; i < 4; ++i) parts[warp][lane % 4 * 2 + i % 2][row + i / 2 * 8] = sum[i];
  __syncthreads();
  for_own<int(M) * COLUMNS, THREADS>([&](int i) {
    const int column = i % COLUMNS, m = i / COLUMNS;
    const int64_t n = blockIdx.x * int64_t(COLUMNS) + column;
    if (n >= N) return;
    float all = parts[0][m][column];
#pragma unroll
    for (int w = 1; w < WARPS; ++w) all += parts[w][m][column];
    ((out_t*)o.out[0])[begin_of_c(0) + m * C_ROW + n * C_COLUMN] = finish(all ALPHA, o.in, 0, m, n);
  });
}

// Packs B: a thread has the eight numbers that a thread of the product wants for 16 steps. Of its row of A that thread has steps 8 t … 8 t + 7 of a group, and
// tensor cores take two of them as steps 2 t and 2 t + 1 of a multiplication and two as 2 t + 8 and 2 t + 9.
extern "C" __global__ void __launch_bounds__(256) amdahl_kernel_1(const __grid_constant__ PackOperands o) {
  const int64_t i = blockIdx.x * 256ll + threadIdx.x;
  if (i >= BLOCKS * (GROUPS * 64)) return;
  const int lane = i % 32, half = i / 32 % 2;
  const int64_t group = i / 64 % GROUPS, first_n = i / 64 / GROUPS * COLUMNS + lane / 4;
  for (int j = 0; j < 8; ++j) {
    const int64_t n = first_n + j / 2 % 2 * 8, k = group * GROUP + lane % 4 * 8 + half * 4 + j / 4 * 2 + j % 2;
    ((uint16_t*)o.out)[i * 8 + j] = n < N && k < K ? ((const uint16_t*)o.in)[begin_of_b(0) + k * B_ROW + n * B_COLUMN] : uint16_t(0);
  }
}

#define MATMUL_LAUNCH {0, BLOCKS, 1, 1, THREADS, 1, 1, 0}
TABLE Pack amdahl_packs[] = {{0}, {BLOCKS * (GROUPS * 64) * 16, {1, (BLOCKS * (GROUPS * 64) + 255) / 256, 1, 1, 256, 1, 1, 0}}};
