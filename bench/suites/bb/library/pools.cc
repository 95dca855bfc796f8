// Means over windows of a space of up to three dimensions; a block is one channel: depth, height, width.
#include "blocks.h"

namespace aten {
namespace {

using P = const double*;

double sumOf(const Block<double>& x, const int64_t* from, const int64_t* to) {
  double sum = 0;
  for (int64_t i = from[0]; i < to[0]; ++i)
    for (int64_t j = from[1]; j < to[1]; ++j)
      for (int64_t k = from[2]; k < to[2]; ++k) sum += x[(i * x.size[1] + j) * x.size[2] + k];
  return sum;
}

template <class F>
void eachOutput(Block<double>& out, F&& f) {
  int64_t at[3];
  for (at[0] = 0; at[0] < out.size[0]; ++at[0])
    for (at[1] = 0; at[1] < out.size[1]; ++at[1])
      for (at[2] = 0; at[2] < out.size[2]; ++at[2]) out[(at[0] * out.size[1] + at[1]) * out.size[2] + at[2]] = f(at);
}

// p: kernel, stride, padding (three each), whether padding counts, the divisor (0: none is given)
void average(Blocks<double>& b, P p) {
  eachOutput(b[0], [&](const int64_t* at) {
    int64_t from[3], to[3], counted = 1;
    for (int d = 0; d < 3; ++d) {
      int64_t kernel = int64_t(p[d]), padding = int64_t(p[6 + d]), size = b[1].size[d];
      from[d] = at[d] * int64_t(p[3 + d]) - padding;
      to[d] = std::min(from[d] + kernel, size + padding);
      int64_t with_padding = to[d] - from[d];
      from[d] = std::max<int64_t>(from[d], 0), to[d] = std::min(to[d], size);
      counted *= p[9] != 0 ? with_padding : to[d] - from[d];
    }
    if (from[0] >= to[0] || from[1] >= to[1] || from[2] >= to[2]) return 0.0;
    return sumOf(b[1], from, to) / (p[10] != 0 ? p[10] : double(counted));
  });
}

void adaptiveAverage(Blocks<double>& b, P) {
  eachOutput(b[0], [&](const int64_t* at) {
    int64_t from[3], to[3], counted = 1;
    for (int d = 0; d < 3; ++d) {
      int64_t size = b[1].size[d], outputs = b[0].size[d];
      from[d] = at[d] * size / outputs;
      to[d] = ((at[d] + 1) * size + outputs - 1) / outputs;
      counted *= to[d] - from[d];
    }
    return sumOf(b[1], from, to) / double(counted);
  });
}

}  // namespace

const BlockKernels& pools() {
  static const BlockKernels kernels = {
      {"avg_pool", block([](Blocks<double>& b, P p) { average(b, p); })},
      {"adaptive_avg_pool", block([](Blocks<double>& b, P p) { adaptiveAverage(b, p); })},
  };
  return kernels;
}

}  // namespace aten
