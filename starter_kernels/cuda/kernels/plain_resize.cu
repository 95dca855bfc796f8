// Separable interpolation from tables: output position p of dimension d is the sum of WEIGHT times input at INDEX over TAPS(d)
// taps from STARTS(d) + p * TAPS(d). Nearest has one tap of weight one and copies.
//
// Constant memory gives a warp one number at a time. So a thread keeps its column, the position in the last dimension, whose taps it holds, and walks over
// EACH rows, in which all threads of a warp read the same taps.
typedef arithmetic<IN0_t>::type value_t;
enum : int { LAST = IN0_RANK - 1 };
enum : long long {
  WIDTH = OUT0_SHAPE(LAST),
  ROWS = WIDTH > 0 ? OUT0_SIZE / WIDTH : 0,
  COLUMNS = WIDTH <= 8 ? 8 : WIDTH <= 32 ? 32 : 64,  // of a block, which has THREADS / COLUMNS rows at a time
  EACH = 8,
  BLOCK_ROWS = THREADS / COLUMNS * EACH,
  ACROSS = WIDTH > 0 ? (WIDTH + COLUMNS - 1) / COLUMNS : 1,
  BLOCKS = ACROSS * (ROWS > 0 ? (ROWS + BLOCK_ROWS - 1) / BLOCK_ROWS : 1)
};

struct Column {
  int64_t index[TAPS(LAST)];
  float weight[TAPS(LAST)];
  bool outside;
};

static inline Column column_of(int64_t position) {
  Column column;
  const int64_t first = STARTS(LAST) + position * TAPS(LAST);
#pragma unroll
  for (int t = 0; t < TAPS(LAST); ++t) {
    column.index[t] = INDEX(first + t);
    column.weight[t] = WEIGHT(first + t);
  }
  column.outside = OUTSIDE(first);
  return column;
}

// The input at `base` of the dimensions before D, interpolated over D and those after.
template <int D> static inline value_t sample(const IN0_t* x, const int64_t* position, const Column& column, int64_t base) {
  value_t sum = 0;
  if constexpr (D == LAST) {
    if (TAPS(D) == 1) return number(x[base * IN0_SHAPE(D) + column.index[0]]);
#pragma unroll
    for (int t = 0; t < TAPS(D); ++t)
      if (column.weight[t] != 0) sum += (value_t)column.weight[t] * number(x[base * IN0_SHAPE(D) + column.index[t]]);
  } else {
    const int64_t first = STARTS(D) + position[D] * TAPS(D);
    if (TAPS(D) == 1) return sample<D + 1>(x, position, column, base * IN0_SHAPE(D) + INDEX(first));
    for (int t = 0; t < TAPS(D); ++t)
      if (WEIGHT(first + t) != 0) sum += (value_t)WEIGHT(first + t) * sample<D + 1>(x, position, column, base * IN0_SHAPE(D) + INDEX(first + t));
  }
  return sum;
}

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands operands) {
  wait_for_producers();
  const int64_t last = blockIdx.x % ACROSS * COLUMNS + threadIdx.x % COLUMNS, first_row = blockIdx.x / ACROSS * BLOCK_ROWS + threadIdx.x / COLUMNS;
  if (last >= WIDTH) return;
  const Column column = column_of(last);
  for (int64_t row = first_row; row < first_row + BLOCK_ROWS && row < ROWS; row += THREADS / COLUMNS) {
    int64_t position[IN0_RANK], rest = row;
    bool outside = column.outside;
#pragma unroll
    for (int d = LAST - 1; d >= 0; --d) {
      position[d] = rest % OUT0_SHAPE(d);
      rest /= OUT0_SHAPE(d);
      outside = outside || OUTSIDE(STARTS(d) + position[d] * TAPS(d));
    }
    ((OUT0_t*)operands.out[0])[row * WIDTH + last] =
        stored<OUT0_t>(outside ? (value_t)EXTRAPOLATION(0) : sample<0>((const IN0_t*)operands.in[0], position, column, 0));
  }
}

TABLE Launch amdahl_launches[] = {{0, BLOCKS, 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;
