// The K best along an axis in order, ties by lower index. A thread an element: its place is the number of those that come before it, which a warp counts
// together, reading one element at a time.
typedef arithmetic<IN0_t>::type value_t;

static inline bool is_before(value_t a, value_t b) { return LARGEST ? is_above(a, b) : a < b || (is_nan(b) && !is_nan(a)); }

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands operands) {
  wait_for_producers();
  for_each(OUTER * LENGTH * INNER, [&](int64_t n) {
    // Numbered along lines, so that the threads of a warp have one line.
    const int64_t l = n % LENGTH, i = n / LENGTH % INNER, o = n / LENGTH / INNER;
    const IN0_t* x = (const IN0_t*)operands.in[0] + o * LENGTH * INNER + i;
    const value_t own = number(x[l * INNER]);
    int64_t rank = 0;
#pragma unroll 4
    for (int64_t m = 0; m < LENGTH; ++m) {
      const value_t other = number(x[m * INNER]);
      rank += is_before(other, own) || (m < l && !is_before(own, other));
    }
    if (rank >= K) return;
    const int64_t to = (o * K + rank) * INNER + i;
    ((OUT0_t*)operands.out[0])[to] = x[l * INNER];
    ((OUT1_t*)operands.out[1])[to] = l;
  });
}

TABLE Launch amdahl_launches[] = {{0, blocks_for(OUTER * LENGTH * INNER), 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;
