// What brings blocks to a mean of 0 and a variance of 1.
#include "blocks.h"

namespace aten {
namespace {

using P = const double*;

struct Moments {
  double mean = 0;
  double variance = 0;
};

Moments momentsOf(const Block<double>& x) {
  Moments m;
  for (double v : x.numbers) m.mean += v;
  m.mean /= double(x.count());
  for (double v : x.numbers) m.variance += (v - m.mean) * (v - m.mean);
  m.variance /= double(x.count());
  return m;
}

// b: out, mean, reciprocal deviation; input, weights, biases (of the input's size). p: epsilon
void normalise(Blocks<double>& b, P p) {
  Moments m = momentsOf(b[3]);
  double scale = 1 / std::sqrt(m.variance + p[0]);
  b[1][0] = m.mean, b[2][0] = scale;
  for (int64_t i = 0; i < b[0].count(); ++i) b[0][i] = (b[3][i] - m.mean) * scale * b[4][i] + b[5][i];
}

// The same of a channel, whose running mean and variance (b[3], b[4], also inputs b[8], b[9]) follow with momentum p[1]; p[2]: in training, else they are used.
void normaliseChannel(Blocks<double>& b, P p) {
  bool training = p[2] != 0;
  int64_t n = b[5].count();
  Moments m = training ? momentsOf(b[5]) : Moments{b[8][0], b[9][0]};
  double scale = 1 / std::sqrt(m.variance + p[0]);
  b[1][0] = m.mean, b[2][0] = scale;
  b[3][0] = training ? (1 - p[1]) * b[8][0] + p[1] * m.mean : b[8][0];
  b[4][0] = training ? (1 - p[1]) * b[9][0] + p[1] * m.variance * double(n) / double(n - 1) : b[9][0];
  for (int64_t i = 0; i < n; ++i) b[0][i] = (b[5][i] - m.mean) * scale * b[6][0] + b[7][0];
}

}  // namespace

const BlockKernels& norms() {
  static const BlockKernels kernels = {
      {"layer_norm", block([](Blocks<double>& b, P p) { normalise(b, p); })},
      {"batch_norm", block([](Blocks<double>& b, P p) { normaliseChannel(b, p); })},
  };
  return kernels;
}

}  // namespace aten
