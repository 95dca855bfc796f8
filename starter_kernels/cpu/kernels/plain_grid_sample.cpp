// An image read at the positions that a grid holds: MODE 0 the nearest element, 1 linear, 2 cubic (Keys' kernel, a = -0.75), between elements and, outside of the
// image, PADDING 0 zeros, 1 the outermost elements, 2 elements as in mirrors. ALIGN: -1 and 1 are the centres of the outermost elements, else their outer edges.
//
// BLOCK positions at a time: what their channels read is worked out once.
typedef arithmetic<IN0_t>::type value_t;
typedef arithmetic<IN1_t>::type place_t;

constexpr int64_t DIMS = IN0_RANK - 2, TAPS = MODE == 0 ? 1 : MODE == 1 ? 2 : 4, BLOCK = 32, BLOCKS = (POINTS + BLOCK - 1) / BLOCK;
constexpr int64_t COMBINED = DIMS == 1 ? TAPS : DIMS == 2 ? TAPS * TAPS : TAPS * TAPS * TAPS;
constexpr int64_t IMAGE = CHANNELS > 0 && IMAGES > 0 ? IN0_SIZE / (CHANNELS * IMAGES) : 0;
constexpr bool PARALLEL = OUT0_SIZE * COMBINED > 1 << 15;

// Which element stands for one that may lie outside; -1: none.
static int64_t padded(int64_t at, int64_t size) {
  if (at >= 0 && at < size) return at;
  if (PADDING == 0) return -1;
  if (PADDING == 1) return at < 0 ? 0 : size - 1;
  const int64_t period = ALIGN ? size > 1 ? 2 * size - 2 : 1 : 2 * size;
  at %= period;
  if (at < 0) at += period;
  return at < size ? at : 2 * size - (ALIGN ? 2 : 1) - at;
}

// Positions so far away, and NaN, keep their sign alone: they become whole numbers below.
static place_t within(place_t x) {
  const place_t far = 1 << 30;
  return !(x > -far) ? -far : x < far ? x : far;
}

static void weigh(place_t t, value_t* weight) {
  const place_t a = (place_t)-0.75, u = 1 - t;
  const auto inner = [&](place_t d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  const auto outer = [&](place_t d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  if (MODE == 0) {
    weight[0] = 1;
  } else if (MODE == 1) {
    weight[0] = (value_t)u;
    weight[1] = (value_t)t;
  } else {
    weight[0] = (value_t)outer(t + 1);
    weight[1] = (value_t)inner(t);
    weight[2] = (value_t)inner(u);
    weight[3] = (value_t)outer(u + 1);
  }
}

struct Elements {
  int64_t at[COMBINED];  // in a channel; -1: a zero
  value_t weight[COMBINED];
};

// The grid has x first, which is the image's last dimension.
static void find(const IN1_t* grid, Elements* to) {
  to->at[0] = 0;
  to->weight[0] = 1;
  int64_t count = 1;
  for (int64_t d = 0; d < DIMS; ++d) {
    const int64_t size = IN0_SHAPE[d + 2];
    const place_t g = (place_t)grid[DIMS - 1 - d] + 1;
    const place_t x = within(ALIGN ? g / 2 * (place_t)(size - 1) : (g * (place_t)size - 1) / 2);
    const place_t whole = MODE == 0 ? __builtin_nearbyint(x) : __builtin_floor(x);
    value_t weight[TAPS];
    weigh(x - whole, weight);
    for (int64_t i = count; i-- > 0;)  // from the end: each makes room for TAPS
      for (int64_t t = TAPS; t-- > 0;) {
        const int64_t at = padded((int64_t)whole + t - (MODE == 2 ? 1 : 0), size);
        to->weight[i * TAPS + t] = to->weight[i] * weight[t];
        to->at[i * TAPS + t] = at < 0 || to->at[i] < 0 ? -1 : to->at[i] * size + at;
      }
    count *= TAPS;
  }
}

static OUT0_t sample(const IN0_t* x, const Elements& elements) {
  if (MODE == 0) return elements.at[0] < 0 ? (OUT0_t)0 : (OUT0_t)x[elements.at[0]];
  value_t sum = 0;
  for (int64_t i = 0; i < COMBINED; ++i)
    if (elements.at[i] >= 0) sum += elements.weight[i] * (value_t)x[elements.at[i]];
  return (OUT0_t)sum;
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void*) {
#pragma omp parallel for schedule(static) num_threads(THREADS) if (PARALLEL)
  for (int64_t task = 0; task < IMAGES * BLOCKS; ++task) {
    const int64_t image = task / BLOCKS, first = task % BLOCKS * BLOCK, count = POINTS - first < BLOCK ? POINTS - first : BLOCK;
    Elements elements[BLOCK];
    for (int64_t i = 0; i < count; ++i) find((const IN1_t*)in[1] + (image * POINTS + first + i) * DIMS, elements + i);
    for (int64_t c = image * CHANNELS; c < (image + 1) * CHANNELS; ++c)
      for (int64_t i = 0; i < count; ++i) ((OUT0_t*)out[0])[c * POINTS + first + i] = sample((const IN0_t*)in[0] + c * IMAGE, elements[i]);
  }
}
