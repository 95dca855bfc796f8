// An image read at the positions that a grid holds: MODE 0 the nearest element, 1 linear, 2 cubic (Keys' kernel, a = -0.75), between elements and, outside of the
// image, PADDING 0 zeros, 1 the outermost elements, 2 elements as in mirrors. ALIGN: -1 and 1 are the centres of the outermost elements, else their outer edges.
// A thread an element of the result.
typedef arithmetic<IN0_t>::type value_t;
typedef arithmetic<IN1_t>::type place_t;
enum : int { DIMS = IN0_RANK - 2, TAPS = MODE == 0 ? 1 : MODE == 1 ? 2 : 4 };
enum : long long { IMAGE = CHANNELS > 0 && IMAGES > 0 ? IN0_SIZE / (CHANNELS * IMAGES) : 0 };

// Which element stands for one that may lie outside; -1: none.
static inline int64_t padded(int64_t at, int64_t size) {
  if (at >= 0 && at < size) return at;
  if (PADDING == 0) return -1;
  if (PADDING == 1) return at < 0 ? 0 : size - 1;
  const int64_t period = ALIGN ? size > 1 ? 2 * size - 2 : 1 : 2 * size;
  at %= period;
  if (at < 0) at += period;
  return at < size ? at : 2 * size - (ALIGN ? 2 : 1) - at;
}

// Positions so far away, and NaN, keep their sign alone: they become whole numbers below.
static inline place_t within(place_t x) {
  const place_t far = 1 << 30;
  return !(x > -far) ? -far : x < far ? x : far;
}

static inline place_t inner(place_t d) { return ((place_t)1.25 * d - (place_t)2.25) * d * d + 1; }
static inline place_t outer(place_t d) { return (((place_t)-0.75 * d + (place_t)3.75) * d - 6) * d + 3; }

struct Taps {
  int64_t at[TAPS];  // -1: a zero
  value_t weight[TAPS];
};

static inline Taps taps_at(place_t x, int64_t size) {
  Taps taps;
  const place_t whole = MODE == 0 ? place_t(scalar::round(x)) : place_t(scalar::floor(x)), t = x - whole, u = 1 - t;
  if (MODE == 0) taps.weight[0] = 1;
  if (MODE == 1) taps.weight[0] = (value_t)u, taps.weight[TAPS > 1 ? 1 : 0] = (value_t)t;
  if constexpr (MODE == 2) {
    taps.weight[0] = (value_t)outer(t + 1);
    taps.weight[1] = (value_t)inner(t);
    taps.weight[2] = (value_t)inner(u);
    taps.weight[3] = (value_t)outer(u + 1);
  }
#pragma unroll
  for (int i = 0; i < TAPS; ++i) taps.at[i] = padded((int64_t)whole + i - (MODE == 2 ? 1 : 0), size);
  return taps;
}

// The sum over the taps of dimension D and those after it of what lies at `base` of those before.
template <int D> static inline value_t sample(const IN0_t* x, const Taps* taps, int64_t base) {
  if constexpr (D == DIMS) {
    return number(x[base]);
  } else {
    value_t sum = 0;
#pragma unroll
    for (int t = 0; t < TAPS; ++t) {
      if (taps[D].at[t] < 0) continue;
      const value_t part = sample<D + 1>(x, taps, base * IN0_SHAPE(D + 2) + taps[D].at[t]);
      if (MODE == 0) return part;
      sum += taps[D].weight[t] * part;
    }
    return sum;
  }
}

// The grid has x first, which is the image's last dimension.
extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands operands) {
  wait_for_producers();
  for_each(IMAGES * CHANNELS * POINTS, [&](int64_t n) {
    const int64_t channel = n / POINTS, point = n % POINTS;
    const IN1_t* grid = (const IN1_t*)operands.in[1] + (channel / CHANNELS * POINTS + point) * DIMS;
    Taps taps[DIMS];
#pragma unroll
    for (int d = 0; d < DIMS; ++d) {
      const int64_t size = IN0_SHAPE(d + 2);
      const place_t g = number(grid[DIMS - 1 - d]) + 1;
      taps[d] = taps_at(within(ALIGN ? g / 2 * (place_t)(size - 1) : (g * (place_t)size - 1) / 2), size);
    }
    ((OUT0_t*)operands.out[0])[n] = stored<OUT0_t>(sample<0>((const IN0_t*)operands.in[0] + channel * IMAGE, taps, 0));
  });
}

TABLE Launch amdahl_launches[] = {{0, blocks_for(IMAGES * CHANNELS * POINTS), 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;
