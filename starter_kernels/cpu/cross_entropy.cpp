// Cross-entropy: loss = -weight[label] * (x[label] - max - log sum exp(x - max)) for each position, then none, mean or sum.
//
// Scores of position p of batch n are x[(n * CLASSES + c) * PLANE + p]. Losses go to the workspace and are added in order at
// the end: the result does not depend on which thread was first. Labels outside the classes give a NaN, never a wild read.

typedef float real;

extern "C" size_t amdahl_workspace_bytes(void) { return 2 * POSITIONS * sizeof(float); }
extern "C" size_t amdahl_packed_bytes(int) { return 0; }
extern "C" void amdahl_pack(int, const void*, void*) {}

// max and log sum exp(x - max) of one row.
struct LogSum {
  float largest, log_sum;
};

static inline LogSum log_sum_of(const score_t* __restrict x) {
  if (LOGARITHMS) return {0, 0};  // already subtracted
  float largest = -__builtin_inff(), sum = 0;
  if (ONLINE) {
    // Blocks that stay in L1: the sum is rescaled when one raises the maximum, the scores come from memory once.
    for (int64_t first = 0; first < CLASSES; first += 1024) {
      const int64_t last = first + 1024 < CLASSES ? first + 1024 : CLASSES;
      float m = largest, s = 0;
#pragma omp simd reduction(max : m)
      for (int64_t c = first; c < last; ++c) {
        const float v = load(x[c * PLANE]);
        m = v > m ? v : m;
      }
      const float shift = m == -__builtin_inff() ? 0 : m;
#pragma omp simd reduction(+ : s)
      for (int64_t c = first; c < last; ++c) s += scalar::exp(load(x[c * PLANE]) - shift);
      sum = sum * scalar::exp(largest - shift) + s;
      largest = m;
    }
  } else {
#pragma omp simd reduction(max : largest)
    for (int64_t c = 0; c < CLASSES; ++c) {
      const float v = load(x[c * PLANE]);
      largest = v > largest ? v : largest;
    }
#pragma omp simd reduction(+ : sum)
    for (int64_t c = 0; c < CLASSES; ++c) sum += scalar::exp(load(x[c * PLANE]) - largest);
  }
  return {largest, scalar::log(sum)};
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void* workspace) {
  const score_t* scores = (const score_t*)in[0];
  const label_t* labels = (const label_t*)in[1];
  float* losses = (float*)workspace;
  float* weights = losses + POSITIONS;
#pragma omp parallel for schedule(static) num_threads(THREADS) if (TASKS > 1)
  for (int64_t task = 0; task < TASKS; ++task) {
    const int64_t last = (task + 1) * ROWS_PER_TASK < POSITIONS ? (task + 1) * ROWS_PER_TASK : POSITIONS;
    for (int64_t i = task * ROWS_PER_TASK; i < last; ++i) {
      const int64_t row = i / PLANE * CLASSES * PLANE + i % PLANE, label = labels[i];
      const LogSum t = log_sum_of(scores + row);
      if (LOG_PROBABILITIES) {
        score_t* y = (score_t*)out[1] + row;
#pragma omp simd
        for (int64_t c = 0; c < CLASSES; ++c) y[c * PLANE] = store((load(scores[row + c * PLANE]) - t.largest) - t.log_sum);
      }
      const bool ignored = IGNORES && label == IGNORED, valid = label >= 0 && label < CLASSES;
      const float w = ignored ? 0 : valid ? weight(in, label) : 1;
      const float x = valid ? load(scores[row + label * PLANE]) : __builtin_nanf("");
      losses[i] = ignored ? 0 : w * (t.log_sum - (x - t.largest));
      weights[i] = w;
    }
  }
  if (REDUCTION == 'n') {
    for (int64_t i = 0; i < POSITIONS; ++i) ((score_t*)out[0])[i] = store(losses[i]);
    return;
  }
  double sum = 0, total = 0;  // a few thousand additions: the precision is free
  for (int64_t i = 0; i < POSITIONS; ++i) sum += losses[i], total += weights[i];
  *(score_t*)out[0] = store((float)(REDUCTION == 'm' ? sum / total : sum));
}
