// Regions of images, each pooled to POOLED_HEIGHT x POOLED_WIDTH bins: the mean of samples between the elements, or with LARGEST the largest of all elements by
// their weights in samples. A bin has SAMPLES in each dimension, 0: as many as it has elements. What lies beyond the image by more than one element is zero.
typedef arithmetic<IN0_t>::type value_t;

constexpr bool PARALLEL = OUT0_SIZE > 1 << 10;

// A region along one dimension: where it begins, how long a bin is, and how many samples that has.
struct Axis {
  value_t start, bin;
  int64_t samples;
};

static Axis axis_of(value_t first, value_t last, int64_t pooled) {
  const value_t scale = (value_t)SCALE[0], offset = HALF_PIXEL ? (value_t)0.5 : 0, start = first * scale - offset, end = last * scale - offset;
  value_t length = end - start;
  if (!HALF_PIXEL && !(length > 1)) length = 1;
  const value_t bin = length / (value_t)pooled, wanted = SAMPLES > 0 ? (value_t)SAMPLES : __builtin_ceil(bin);
  return {start, bin, !(wanted > 0) ? 0 : wanted < (value_t)MOST_SAMPLES ? (int64_t)wanted : MOST_SAMPLES};
}

// A sample between two elements.
struct Point {
  int64_t low, high;
  value_t part;  // of the second
  bool there;
};

static Point point_of(const Axis& axis, int64_t bin, int64_t sample, int64_t size) {
  value_t at = axis.start + (value_t)bin * axis.bin + ((value_t)sample + (value_t)0.5) * axis.bin / (value_t)axis.samples;
  if (!(at >= -1 && at <= (value_t)size)) return {0, 0, 0, false};
  if (at < 0) at = 0;
  const int64_t low = (int64_t)at;
  if (low >= size - 1) return {size - 1, size - 1, 0, true};
  return {low, low + 1, at - (value_t)low, true};
}

static value_t pooled(const IN0_t* x, const Axis& rows, const Axis& columns, int64_t h, int64_t w) {
  value_t sum = 0, largest = 0;
  bool found = false;
  for (int64_t i = 0; i < rows.samples; ++i) {
    const Point r = point_of(rows, h, i, HEIGHT);
    for (int64_t j = 0; j < columns.samples && (r.there || LARGEST); ++j) {
      const Point c = point_of(columns, w, j, WIDTH);
      const bool there = r.there && c.there;
      if (!there && !LARGEST) continue;
      const IN0_t *top = x + r.low * WIDTH, *bottom = x + r.high * WIDTH;
      const value_t a = there ? (1 - r.part) * (1 - c.part) * (value_t)top[c.low] : 0, b = there ? (1 - r.part) * c.part * (value_t)top[c.high] : 0;
      const value_t d = there ? r.part * (1 - c.part) * (value_t)bottom[c.low] : 0, e = there ? r.part * c.part * (value_t)bottom[c.high] : 0;
      sum += a + b + d + e;
      const value_t top_best = a > b ? a : b, bottom_best = d > e ? d : e, best = top_best > bottom_best ? top_best : bottom_best;
      if (!found || best > largest) largest = best;
      found = true;
    }
  }
  const int64_t count = rows.samples * columns.samples;
  return LARGEST ? largest : sum / (value_t)(count > 0 ? count : 1);
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void*) {
  OUT0_t* y = (OUT0_t*)out[0];
#pragma omp parallel for schedule(dynamic) num_threads(THREADS) if (PARALLEL)
  for (int64_t task = 0; task < REGIONS * CHANNELS; ++task) {
    const IN1_t* corners = (const IN1_t*)in[1] + task / CHANNELS * 4;
    const int64_t image = bounded((int64_t)((const IN2_t*)in[2])[task / CHANNELS], IMAGES);
    const IN0_t* x = (const IN0_t*)in[0] + (image * CHANNELS + task % CHANNELS) * HEIGHT * WIDTH;
    const Axis columns = axis_of((value_t)corners[0], (value_t)corners[2], POOLED_WIDTH), rows = axis_of((value_t)corners[1], (value_t)corners[3], POOLED_HEIGHT);
    for (int64_t h = 0; h < POOLED_HEIGHT; ++h)
      for (int64_t w = 0; w < POOLED_WIDTH; ++w) y[(task * POOLED_HEIGHT + h) * POOLED_WIDTH + w] = (OUT0_t)pooled(x, rows, columns, h, w);
  }
}
