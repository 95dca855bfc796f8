// The mean over rows of log(sum e^x) - x[label], one read of memory. Every lane of a vector keeps a largest value and a sum of its own.

#include <cmath>
#include <limits>

#include "bench/kernels/hand_written/hand_written.h"
#include "bench/kernels/hand_written/rows.h"
#include "bench/kernels/hand_written/vectors.h"

namespace amdahl::hand_written {
namespace {

constexpr int64_t kVectors = 16, kRun = kVectors * kLanes;  // a lane's largest value is brought up to date once for so many elements
constexpr int64_t kAhead = 1024;  // a page: hardware prefetches within pages only

struct LogSum {
  Vec largest = all(-std::numeric_limits<float>::max()), sum = {};

  void add(const float* x, int64_t vectors) {
    Vec most[4] = {largest, largest, largest, largest};
    for (int64_t v = 0; v < vectors; ++v) {
      if (v * kLanes % 16 == 0) __builtin_prefetch(x + v * kLanes + kAhead);
      most[v % 4] = larger(most[v % 4], at(x + v * kLanes));
    }
    const Vec now = larger(larger(most[0], most[1]), larger(most[2], most[3]));
    sum *= exp(largest - now);
    largest = now;
    for (int64_t v = 0; v < vectors; ++v) sum += exp(at(x + v * kLanes) - now);
  }

  double value() const {
    const float most = largest_of(largest);
    return most + std::log(static_cast<double>(sum_of(sum * exp(largest - most))));
  }
};

double log_sum(const float* x, int64_t n) {
  LogSum all;
  int64_t j = 0;
  for (; j + kRun <= n; j += kRun) all.add(x + j, kVectors);
  if (j < n) all.add(x + j, (n - j) / kLanes);
  return all.value();
}

}  // namespace

std::vector<Run> cross_entropy(const Operands& operands, int) {
  const Rows r = rows_of(operands, kLanes);
  const std::span<const int64_t> labels = operands.constant("c0").as<int64_t>();
  return {[=] {
    double loss = 0;
#pragma omp parallel for reduction(+ : loss)
    for (int64_t i = 0; i < r.rows; ++i) loss += log_sum(r.x + i * r.columns, r.columns) - r.x[i * r.columns + labels[i]];
    *r.y = static_cast<float>(loss / static_cast<double>(r.rows));
  }};
}

}  // namespace amdahl::hand_written
