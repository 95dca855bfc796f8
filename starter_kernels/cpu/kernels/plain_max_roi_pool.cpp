// Regions of images, each pooled to POOLED_HEIGHT x POOLED_WIDTH bins: their largest elements. Corners are rounded to whole elements, halves away from zero, and
// belong to the region; a bin that lies beside the image is zero.
typedef arithmetic<IN0_t>::type value_t;

constexpr bool PARALLEL = OUT0_SIZE > 1 << 10;

// A region along one dimension, in elements.
struct Axis {
  int64_t from, length;
};

// Coordinates so far away, and NaN, keep their sign alone.
static value_t near(value_t x) {
  const value_t far = 1 << 20;
  return !(x > -far) ? -far : x < far ? x : far;
}

static int64_t rounded(value_t x) { return (int64_t)__builtin_round(near(x)); }

static Axis axis_of(value_t first, value_t last) {
  const int64_t from = rounded(first * (value_t)SCALE[0]), length = rounded(last * (value_t)SCALE[0]) - from + 1;
  return {from, length > 1 ? length : 1};
}

static int64_t within(int64_t at, int64_t size) { return at < 0 ? 0 : at < size ? at : size; }
static int64_t begin_of(const Axis& axis, int64_t bin, int64_t bins, int64_t size) { return within(axis.from + bin * axis.length / bins, size); }
static int64_t end_of(const Axis& axis, int64_t bin, int64_t bins, int64_t size) { return within(axis.from + ((bin + 1) * axis.length + bins - 1) / bins, size); }

static value_t largest(const IN0_t* x, const Axis& rows, const Axis& columns, int64_t bin_h, int64_t bin_w) {
  value_t best = 0;
  bool found = false;
  for (int64_t h = begin_of(rows, bin_h, POOLED_HEIGHT, HEIGHT); h < end_of(rows, bin_h, POOLED_HEIGHT, HEIGHT); ++h)
    for (int64_t w = begin_of(columns, bin_w, POOLED_WIDTH, WIDTH); w < end_of(columns, bin_w, POOLED_WIDTH, WIDTH); ++w) {
      const value_t v = (value_t)x[h * WIDTH + w];
      if (!found || is_above(v, best)) best = v;
      found = true;
    }
  return best;
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void*) {
  OUT0_t* y = (OUT0_t*)out[0];
#pragma omp parallel for schedule(dynamic) num_threads(THREADS) if (PARALLEL)
  for (int64_t task = 0; task < REGIONS * CHANNELS; ++task) {
    const IN1_t* region = (const IN1_t*)in[1] + task / CHANNELS * 5;
    const IN0_t* x = (const IN0_t*)in[0] + (within((int64_t)near((value_t)region[0]), IMAGES - 1) * CHANNELS + task % CHANNELS) * HEIGHT * WIDTH;
    const Axis columns = axis_of((value_t)region[1], (value_t)region[3]), rows = axis_of((value_t)region[2], (value_t)region[4]);
    for (int64_t h = 0; h < POOLED_HEIGHT; ++h)
      for (int64_t w = 0; w < POOLED_WIDTH; ++w) y[(task * POOLED_HEIGHT + h) * POOLED_WIDTH + w] = (OUT0_t)largest(x, rows, columns, h, w);
  }
}
