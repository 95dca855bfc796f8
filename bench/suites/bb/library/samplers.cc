// Images read between their pixels. A block is a channel: a space of two or three dimensions (height, width last), and coordinates in it.
#include <numbers>

#include "blocks.h"

namespace aten {
namespace {

using P = const double*;

enum Mode { kLinear, kNearest, kCubic };
enum Padding { kZeros, kBorder, kReflection };

// From [-1, 1] to pixels.
double pixel(double x, int64_t size, bool corners) { return corners ? (x + 1) / 2 * double(size - 1) : ((x + 1) * double(size) - 1) / 2; }

double reflected(double x, double low, double high) {
  if (low == high) return 0;
  double span = high - low, off = std::abs(x - low), rest = std::fmod(off, span);
  return int64_t(std::floor(off / span)) % 2 ? high - rest : low + rest;
}

double padded(double x, int64_t size, Padding padding, bool corners) {
  if (padding == kReflection) x = corners ? reflected(x, 0, double(size - 1)) : reflected(x, -0.5, double(size) - 0.5);
  return padding == kZeros ? x : std::min(std::max(x, 0.0), double(size - 1));
}

struct Taps {
  int64_t first = 0;
  std::vector<double> weights;
};

std::vector<double> cubicWeights(double t) {
  constexpr double kA = -0.75;
  auto near = [](double x) { return ((kA + 2) * x - (kA + 3)) * x * x + 1; };
  auto far = [](double x) { return ((x - 5) * x + 8) * x * kA - 4 * kA; };
  return {far(t + 1), near(t), near(1 - t), far(2 - t)};
}

Taps taps(double x, Mode mode) {
  int64_t floor = int64_t(std::floor(x));
  if (mode == kNearest) return {int64_t(std::nearbyint(x)), {1}};
  if (mode == kCubic) return {floor - 1, cubicWeights(x - std::floor(x))};
  return {floor, {1 - (x - std::floor(x)), x - std::floor(x)}};
}

// One channel at one place; `size` and `at` are three long, 1 and 0 in front of an image of two dimensions.
struct Sampler {
  Mode mode;
  Padding padding;
  bool corners;

  // The pixel that tap i reads, or -1: cubic ones are padded tap by tap, the others before.
  int64_t tapped(int64_t i, int64_t size) const {
    if (mode == kCubic && padding != kZeros) return int64_t(padded(double(i), size, padding, corners));
    return i >= 0 && i < size ? i : -1;
  }

  double sample(const double* image, const int64_t* size, const double* at) const {
    Taps t[3];
    for (int d = 0; d < 3; ++d) {
      double x = pixel(at[d], size[d], corners);
      if (mode != kCubic) x = padded(x, size[d], padding, corners);
      t[d] = size[d] == 1 && std::isnan(at[d]) ? Taps{0, {1}} : taps(std::abs(x) < 1e15 ? x : -100, mode);
    }
    double sum = 0;
    for (size_t i = 0; i < t[0].weights.size(); ++i)
      for (size_t j = 0; j < t[1].weights.size(); ++j)
        for (size_t k = 0; k < t[2].weights.size(); ++k) {
          int64_t z = tapped(t[0].first + int64_t(i), size[0]), y = tapped(t[1].first + int64_t(j), size[1]), x = tapped(t[2].first + int64_t(k), size[2]);
          if (z < 0 || y < 0 || x < 0) continue;
          sum += t[0].weights[i] * t[1].weights[j] * t[2].weights[k] * image[(z * size[1] + y) * size[2] + x];
        }
    return sum;
  }
};

// b: out [places...]; image [d, h, w] or [h, w], places [..., 2 or 3] with x first. p: mode, padding, whether corners are aligned
void sampleGrid(Blocks<double>& b, P p) {
  Sampler sampler{Mode(int(p[0])), Padding(int(p[1])), p[2] != 0};
  int64_t dims = int64_t(b[1].size.size()), size[3] = {1, 1, 1};
  std::copy(b[1].size.begin(), b[1].size.end(), size + 3 - dims);
  for (int64_t i = 0; i < b[0].count(); ++i) {
    double at[3] = {std::nan(""), 0, 0};
    for (int64_t d = 0; d < dims; ++d) at[2 - d] = b[2][i * dims + d];
    b[0][i] = sampler.sample(b[1].numbers.data(), size, at);
  }
}

// A line shrunk or grown by triangles as wide as its pixels are shrunk, their weights made to sum to 1. p: the scale
void stretchLine(Blocks<double>& b, P p) {
  double scale = p[0], support = std::max(1.0, scale);
  int64_t n = b[1].count();
  for (int64_t i = 0; i < b[0].count(); ++i) {
    double centre = scale * (double(i) + 0.5), total = 0, sum = 0;
    int64_t from = std::max<int64_t>(int64_t(centre - support + 0.5), 0), to = std::min(int64_t(centre + support + 0.5), n);
    for (int64_t j = from; j < to; ++j) {
      double weight = std::max(0.0, 1 - std::abs((double(j) - centre + 0.5) / support));
      total += weight, sum += weight * b[1][j];
    }
    b[0][i] = total != 0 ? sum / total : sum;
  }
}

}  // namespace

const BlockKernels& samplers() {
  static const BlockKernels kernels = {
      {"grid_sample", block([](Blocks<double>& b, P p) { sampleGrid(b, p); })},
      {"stretch", block([](Blocks<double>& b, P p) { stretchLine(b, p); })},
  };
  return kernels;
}

}  // namespace aten
