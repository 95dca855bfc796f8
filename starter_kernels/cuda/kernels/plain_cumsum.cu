// Running sum along an axis: a thread a line where lines are short or lie side by side, else a block a line, THREADS elements at a time.
typedef arithmetic<OUT0_t>::type sum_t;
enum : bool { BY_THREADS = LENGTH <= 64 || INNER >= 32 };
enum : long long { LINES = OUTER * INNER };

static inline int64_t place(int64_t line, int64_t step) {
  return (line / INNER * LENGTH + (REVERSE ? LENGTH - 1 - step : step)) * INNER + line % INNER;
}

static inline void sum_by_thread(const IN0_t* x, OUT0_t* y, int64_t line) {
  sum_t sum = 0;
  for (int64_t step = 0; step < LENGTH; ++step) {
    const int64_t at = place(line, step);
    const sum_t before = sum;
    sum = sum_t(sum + number(x[at]));
    y[at] = stored<OUT0_t>(EXCLUSIVE ? before : sum);
  }
}

// The sum of `value` over the block's threads up to this one, and over all of them.
struct Sums {
  sum_t upto, all;
};
static inline Sums sums_of_block(sum_t value) {
  __shared__ sum_t upto[THREADS];
  const int thread = threadIdx.x;
  upto[thread] = value;
  for (int distance = 1; distance < THREADS; distance *= 2) {
    __syncthreads();
    const sum_t before = thread >= distance ? upto[thread - distance] : sum_t(0);
    __syncthreads();
    upto[thread] = sum_t(upto[thread] + before);
  }
  __syncthreads();
  const Sums sums = {upto[thread], upto[THREADS - 1]};
  __syncthreads();  // before they are written again
  return sums;
}

static inline void sum_by_block(const IN0_t* x, OUT0_t* y, int64_t line) {
  sum_t sum = 0;  // of all elements before
  for (int64_t first = 0; first < LENGTH; first += THREADS) {
    const int64_t step = first + threadIdx.x, at = place(line, step);
    const sum_t value = step < LENGTH ? number(x[at]) : sum_t(0);
    const Sums sums = sums_of_block(value);
    // Not the sum less the value: an infinity would become a NaN.
    const Sums before = EXCLUSIVE ? sums_of_block(step > first && step - 1 < LENGTH ? number(x[place(line, step - 1)]) : sum_t(0)) : sums;
    if (step < LENGTH) y[at] = stored<OUT0_t>(sum_t(sum + before.upto));
    sum = sum_t(sum + sums.all);
  }
}

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands operands) {
  wait_for_producers();
  const IN0_t* x = (const IN0_t*)operands.in[0];
  OUT0_t* y = (OUT0_t*)operands.out[0];
  if constexpr (BY_THREADS) {
    for_each(LINES, [&](int64_t line) { sum_by_thread(x, y, line); });
  } else {
    for (int64_t line = blockIdx.x; line < LINES; line += gridDim.x) sum_by_block(x, y, line);
  }
}

TABLE Launch amdahl_launches[] = {{0, blocks_for(BY_THREADS ? LINES : LINES * THREADS), 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;
