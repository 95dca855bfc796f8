// Regions of images, each pooled to POOLED_HEIGHT x POOLED_WIDTH bins: their largest elements. Corners are rounded to whole elements, halves away from zero, and
// belong to the region; a bin that lies beside the image is zero. A thread a bin.
typedef arithmetic<IN0_t>::type value_t;

// A region along one dimension, in elements.
struct Axis {
  int64_t from, length;
};

// Coordinates so far away, and NaN, keep their sign alone.
static inline value_t near(value_t x) {
  const value_t far = 1 << 20;
  return !(x > -far) ? -far : x < far ? x : far;
}

static inline int64_t rounded(value_t x) {
  const value_t magnitude = scalar::abs(near(x)), whole = scalar::floor(magnitude);
  const int64_t n = (int64_t)whole + (magnitude - whole >= (value_t)0.5 ? 1 : 0);
  return x > 0 ? n : -n;
}

static inline Axis axis_of(value_t first, value_t last) {
  const int64_t from = rounded(first * (value_t)SCALE(0)), length = rounded(last * (value_t)SCALE(0)) - from + 1;
  return {from, length > 1 ? length : 1};
}

static inline int64_t within(int64_t at, int64_t size) { return at < 0 ? 0 : at < size ? at : size; }
static inline int64_t begin_of(const Axis& axis, int64_t bin, int64_t bins, int64_t size) { return within(axis.from + bin * axis.length / bins, size); }
static inline int64_t end_of(const Axis& axis, int64_t bin, int64_t bins, int64_t size) { return within(axis.from + ((bin + 1) * axis.length + bins - 1) / bins, size); }

static inline value_t largest(const IN0_t* x, const Axis& rows, const Axis& columns, int64_t bin_h, int64_t bin_w) {
  value_t best = 0;
  bool found = false;
  for (int64_t h = begin_of(rows, bin_h, POOLED_HEIGHT, HEIGHT); h < end_of(rows, bin_h, POOLED_HEIGHT, HEIGHT); ++h)
    for (int64_t w = begin_of(columns, bin_w, POOLED_WIDTH, WIDTH); w < end_of(columns, bin_w, POOLED_WIDTH, WIDTH); ++w) {
      const value_t v = number(x[h * WIDTH + w]);
      if (!found || is_above(v, best)) best = v;
      found = true;
    }
  return best;
}

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands operands) {
  wait_for_producers();
  for_each(REGIONS * CHANNELS * POOLED_HEIGHT * POOLED_WIDTH, [&](int64_t n) {
    const int64_t w = n % POOLED_WIDTH, h = n / POOLED_WIDTH % POOLED_HEIGHT, channel = n / (POOLED_WIDTH * POOLED_HEIGHT) % CHANNELS;
    const IN1_t* region = (const IN1_t*)operands.in[1] + n / (POOLED_WIDTH * POOLED_HEIGHT * CHANNELS) * 5;
    const IN0_t* x = (const IN0_t*)operands.in[0] + (within((int64_t)near(number(region[0])), IMAGES - 1) * CHANNELS + channel) * HEIGHT * WIDTH;
    const Axis columns = axis_of(number(region[1]), number(region[3])), rows = axis_of(number(region[2]), number(region[4]));
    ((OUT0_t*)operands.out[0])[n] = stored<OUT0_t>(largest(x, rows, columns, h, w));
  });
}

TABLE Launch amdahl_launches[] = {{0, blocks_for(REGIONS * CHANNELS * POOLED_HEIGHT * POOLED_WIDTH), 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;
