// Cross-entropy: loss = -weight[label] * (x[label] - max - log sum exp(x - max)) for each position, then none, mean or sum.
//
// A line is the scores of a position; maximum and sum grow together (Milakov & Gimelshein 2018), so that scores are read once. Losses go to the workspace,
// and one block adds them in an order that does not depend on timing. Labels outside the classes give a NaN, never a wild read.

#define LOWEST (-__builtin_inff())
enum : long long { POSITIONS = O * K, ADDERS = 1024 };

// All masked so far: exp(-inf - 0) is 0, exp(-inf + inf) would be NaN.
static inline float shift_of(float largest) { return largest == LOWEST ? 0 : largest; }

// max and log sum exp(x - max) of a line.
struct LogSum {
  float largest, log_sum;
};

static inline LogSum log_sum_of(const void* const* in, const Line& line) {
  if (LOGARITHMS) return {0, 0};  // already subtracted
  const auto larger = [](float a, float b) { return b > a ? b : a; };
  float largest = LOWEST, sum = 0;
  for_elements(line, [&](int64_t, int64_t, int64_t c) {
    const float x = input(in, line.o, 0, c, line.k), most = larger(largest, x), shift = shift_of(most);
    sum = sum * scalar::exp(largest - shift) + scalar::exp(x - shift);
    largest = most;
  });
  const float most = over_line(largest, larger);
  sum = over_line(sum * scalar::exp(largest - shift_of(most)), [](float a, float b) { return a + b; });
  return {most, scalar::log(sum)};
}

static inline void write_loss(const Operands& operands, const Line& line, LogSum of) {
  const int64_t position = line.o * K + line.k, label = ((const label_t*)operands.in[1])[position];
  const bool ignored = IGNORES && label == IGNORED, valid = label >= 0 && label < J;
  const float w = ignored ? 0 : valid ? weight(operands.in, label) : 1;
  const float x = valid ? input(operands.in, line.o, 0, label, line.k) : __builtin_nanf("");
  const float loss = ignored ? 0 : w * (of.log_sum - (x - of.largest));
  if (REDUCTION == 'n') {
    ((score_t*)operands.out[0])[position] = store(loss);
  } else {
    ((float*)operands.workspace)[position] = loss;
    ((float*)operands.workspace)[POSITIONS + position] = w;
  }
}

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands operands) {
  wait_for_producers();
  for_lines([&](const Line& line) {
    const LogSum of = log_sum_of(operands.in, line);
    if (line.there && line.lane == 0) write_loss(operands, line, of);
    if (LOG_PROBABILITIES)
      for_elements(line, [&](int64_t, int64_t, int64_t c) {
        ((score_t*)operands.out[1])[place(line.o, 0, c, line.k)] = store((input(operands.in, line.o, 0, c, line.k) - of.largest) - of.log_sum);
      });
  });
}

#if ADDS
extern "C" __global__ void __launch_bounds__(ADDERS) amdahl_kernel_1(const __grid_constant__ Operands operands) {
  wait_for_producers();
  __shared__ double sums[ADDERS], totals[ADDERS];
  const float* losses = (const float*)operands.workspace;
  const int thread = threadIdx.x;
  double sum = 0, total = 0;
  for (int64_t i = thread; i < POSITIONS; i += ADDERS) sum += losses[i], total += losses[POSITIONS + i];
  sums[thread] = sum;
  totals[thread] = total;
  for (int half = ADDERS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) sums[thread] += sums[thread + half], totals[thread] += totals[thread + half];
  }
  if (thread == 0) *(score_t*)operands.out[0] = store((float)(REDUCTION == 'm' ? sums[0] / totals[0] : sums[0]));
}

TABLE Launch amdahl_launches[] = {{0, BLOCKS, 1, 1, THREADS, 1, 1, 0}, {1, 1, 1, 1, ADDERS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 2 * POSITIONS * sizeof(float);
#else
TABLE Launch amdahl_launches[] = {{0, BLOCKS, 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;
#endif
