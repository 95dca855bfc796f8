// A line to a line of running values.
#include <limits>

#include "blocks.h"

namespace aten {
namespace {

using P = const double*;

// The later of equal numbers, and NaN before all others.
template <bool largest>
constexpr auto runningExtreme = [](auto& b, P) {
  int64_t best = 0;
  for (int64_t i = 0; i < b[2].count(); ++i) {
    auto x = b[2][i], most = b[2][best];
    if (x != x || (most == most && (largest ? x >= most : x <= most))) best = i;
    b[0][i] = b[2][best];
    b[1][i] = best;
  }
};

void runningLogOfSum(Blocks<double>& b, P) {
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int64_t i = 0; i < b[1].count(); ++i) {
    double x = b[1][i];
    if (x > most || x != x) sum = sum == 0 ? 0 : sum * std::exp(most - x), most = x;
    sum += x == most && std::isinf(x) ? 1 : std::exp(x - most);
    b[0][i] = std::isinf(most) ? most : most + std::log(sum);
  }
}

}  // namespace

const BlockKernels& scans() {
  static const BlockKernels kernels = {
      {"cumsum", block([](auto& b, P) {
         for (int64_t i = 0; i < b[1].count(); ++i) b[0][i] = i ? b[0][i - 1] + b[1][i] : b[1][i];
       })},
      {"cumprod", block([](auto& b, P) {
         for (int64_t i = 0; i < b[1].count(); ++i) b[0][i] = i ? b[0][i - 1] * b[1][i] : b[1][i];
       })},
      {"cummax", block(runningExtreme<true>)},
      {"cummin", block(runningExtreme<false>)},
      {"logcumsumexp", block([](Blocks<double>& b, P p) { runningLogOfSum(b, p); })},
      {"softmax_backward", block([](Blocks<double>& b, P) {
         double sum = 0;
         for (int64_t i = 0; i < b[1].count(); ++i) sum += b[1][i] * b[2][i];
         for (int64_t i = 0; i < b[1].count(); ++i) b[0][i] = (b[1][i] - sum) * b[2][i];
       })},
      {"cross", block([](auto& b, P) {
         for (int i = 0; i < 3; ++i) b[0][i] = b[1][(i + 1) % 3] * b[2][(i + 2) % 3] - b[1][(i + 2) % 3] * b[2][(i + 1) % 3];
       })},
      {"renorm", block([](Blocks<double>& b, P p) {
         for (int64_t i = 0; i < b[1].count(); ++i) b[0][i] = b[1][i] * (b[2][0] > p[0] ? p[0] / (b[2][0] + 1e-7) : 1);
       })},
  };
  return kernels;
}

}  // namespace aten
