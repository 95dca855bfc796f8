// Cross-entropy: loss = -weight[label] * (x[label] - max - log sum exp(x - max)) for each position, then none, mean or sum.
//
// Scores of position p of batch n are x[(n * CLASSES + c) * PLANE + p]. Losses go to the workspace and are added in order at
// the end: the result does not depend on which thread was first. Labels outside the classes give a NaN, never a wild read.
// Scores come from memory once: maximum and sum grow together, block by block (Milakov & Gimelshein 2018).

typedef float real;

extern "C" size_t amdahl_workspace_bytes(void) { return 2 * POSITIONS * sizeof(float); }
extern "C" size_t amdahl_packed_bytes(int) { return 0; }
extern "C" void amdahl_pack(int, const void*, void*) {}

// A maximum and a sum take up to four cycles each and two can begin in one: CHAINS of them. A block is walked twice, for the maximum and for the
// exponentials, from L1; the longer it is the less its lanes' rescaling counts, one exponential for 256.
constexpr int LANES = BLOCK, CHAINS = 4;
constexpr int64_t RUN = CHAINS * LANES, SCORES = 256 * LANES;

// Scores [first, first + n) of a row in whole runs, at most SCORES: where they lie, or in `own` if they are of another type, not neighbours, or end
// inside a run. That is filled up with what neither maximum nor sum sees.
static inline const float* block_of(const score_t* x, int64_t first, int64_t n, float* __restrict own) {
  if (PLANE == 1 && IS_FLOAT && n % RUN == 0) return (const float*)x + first;
#pragma omp simd
  for (int64_t c = 0; c < n; ++c) own[c] = load(x[(first + c) * PLANE]);
  for (int64_t c = n; c % RUN != 0; ++c) own[c] = -__builtin_inff();
  return own;
}

// exp of x <= 0. Cut off here, at the price of one maximum, its product with 2^n and the sum become one operation.
static inline __attribute__((always_inline)) wide exp_of(wide x) {
  return scalar::exp_within_of<wide, wide_bits>(larger(wide{} - 88.0f, x));
}

// What is subtracted. All masked so far: exp(-inf - 0) is 0, exp(-inf + inf) would be NaN.
static inline __attribute__((always_inline)) wide shift_of(wide largest) { return largest == -__builtin_inff() ? wide{} : largest; }

// Of a row so far: every lane's own maximum, and its sum of exp(x - that).
struct LaneSums {
  wide largest, sum;
};

// Not inlined: among the variables of its caller GCC keeps the sums in memory.
static __attribute__((noinline)) LaneSums add_block(const float* x, int64_t n, LaneSums before) {
  const auto at = [x](int64_t c) { return (wide) * (const lanes*)(x + c); };
  wide most[CHAINS], sum[CHAINS] = {};
  for (int k = 0; k < CHAINS; ++k) most[k] = before.largest;
  for (int64_t c = 0; c < n; c += RUN)
    for (int k = 0; k < CHAINS; ++k) most[k] = larger(at(c + k * LANES), most[k]);
  const wide largest = larger(larger(most[0], most[1]), larger(most[2], most[3])), shift = shift_of(largest);
  for (int64_t c = 0; c < n; c += RUN) {
    // The next block: this walk leaves memory idle, and hardware does not look beyond the end of a page (32000 scores a row on Zen 3, one
    // thread: 17.4 ms without, 11.7 with).
    for (int64_t line = 0; line < RUN; line += 16) __builtin_prefetch(x + SCORES + c + line);
    for (int k = 0; k < CHAINS; ++k) sum[k] += exp_of(at(c + k * LANES) - shift);
  }
  return {largest, before.sum * exp_of(before.largest - shift) + ((sum[0] + sum[1]) + (sum[2] + sum[3]))};
}

// max and log sum exp(x - max) of one row.
struct LogSum {
  float largest, log_sum;
};

static inline LogSum log_sum_of(const score_t* x) {
  if (LOGARITHMS) return {0, 0};  // already subtracted
  alignas(64) float own[SCORES];
  LaneSums row{wide{} - __builtin_inff(), wide{}};
  for (int64_t first = 0; first < CLASSES; first += SCORES) {
    const int64_t n = first + SCORES < CLASSES ? SCORES : CLASSES - first;
    row = add_block(block_of(x, first, n, own), (n + RUN - 1) / RUN * RUN, row);
  }
  float largest = row.largest[0], sum = 0;
  for (int l = 1; l < LANES; ++l) largest = row.largest[l] > largest ? row.largest[l] : largest;
  const wide scaled = row.sum * exp_of(row.largest - shift_of(wide{} + largest));
  for (int l = 0; l < LANES; ++l) sum += scaled[l];
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
