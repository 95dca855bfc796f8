// Losses of a line of scores.
#include "blocks.h"

namespace aten {

const BlockKernels& losses() {
  using P = const double*;
  static const BlockKernels kernels = {
      // out; scores, the right one's index, weights of all. p: power, margin
      {"multi_margin", block([](Blocks<double>& b, P p) {
         int64_t right = int64_t(b[2][0]), n = b[1].count();
         if (right < 0 || right >= n) throw std::runtime_error("target out of range");
         double sum = 0;
         for (int64_t i = 0; i < n; ++i) {
           double off = i == right ? 0 : p[1] - b[1][right] + b[1][i];
           if (off > 0) sum += (p[0] == 1 ? off : off * off) * b[3][right];
         }
         b[0][0] = sum / double(n);
       })},
  };
  return kernels;
}

}  // namespace aten
