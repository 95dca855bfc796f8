// What layers of networks apply to every number, and the losses of one.
#include <numbers>

#include "pointwise.h"

namespace aten {
namespace {

using P = const double*;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return x > 30 ? x : std::log1p(std::exp(x)); }
double clamped(double x, double low, double high) { return std::isnan(x) ? x : std::min(std::max(x, low), high); }

double tanhGelu(double x) {
  constexpr double kSlope = 0.7978845608028654;  // sqrt(2 / pi)
  return 0.5 * x * (1 + std::tanh(kSlope * (x + 0.044715 * x * x * x)));
}

// -log(x), which PyTorch lets be 100 at most.
double boundedLog(double x) { return std::max(std::log(x), -100.0); }

}  // namespace

const PointwiseKernels& activations() {
  static const PointwiseKernels kernels = {
      {"relu", each([](auto x, P) { return x <= 0 ? 0 : x; })},
      {"leaky_relu", each([](double x, P p) { return x > 0 ? x : x * p[0]; })},
      {"elu", each([](double x, P p) { return x <= 0 ? p[0] * p[1] * std::expm1(x * p[2]) : x * p[1]; })},
      {"hardtanh", each([](auto x, P p) { return clamped(x, p[0], p[1]); })},
      {"hardshrink", each([](double x, P p) { return x >= -p[0] && x <= p[0] ? 0 : x; })},
      {"softshrink", each([](double x, P p) { return x > p[0]        ? x - p[0]
                                                     : x < -p[0]     ? x + p[0]
                                                     : std::isnan(x) ? x
                                                                     : 0; })},
      {"softplus", each([](double x, P p) { return x * p[0] > p[1] ? x : std::log1p(std::exp(x * p[0])) / p[0]; })},
      {"threshold", each([](auto x, P p) { return x <= p[0] ? p[1] : x; })},
      {"hardsigmoid", each([](double x, P) { return clamped(x + 3, 0, 6) / 6; })},
      {"hardswish", each([](double x, P) { return x * clamped(x + 3, 0, 6) / 6; })},
      {"mish", each([](double x, P) { return x * std::tanh(softplus(x)); })},
      {"silu", each([](double x, P) { return x * sigmoid(x); })},
      {"gelu", each([](double x, P) { return 0.5 * x * std::erfc(-x * std::numbers::sqrt2 / 2); })},
      {"gelu_tanh", each([](double x, P) { return tanhGelu(x); })},
      {"glu", each([](double a, double b, P) { return a * sigmoid(b); })},
      {"prelu", each([](double x, double slope, P) { return x > 0 ? x : slope * x; })},
      {"dropout_backward", each([](double gradient, double mask, P p) { return gradient * mask * p[0]; })},
      {"mse", each([](double a, double b, P) { return (a - b) * (a - b); })},
      {"smooth_l1", each([](double a, double b, P p) {
         double z = std::abs(a - b);
         return z < p[0] ? 0.5 * z * z / p[0] : z - 0.5 * p[0];
       })},
      {"soft_margin", each([](double x, double target, P) { return softplus(-target * x); })},
      {"binary_cross_entropy",
       each([](double x, double target, double weight, P) { return weight * ((target - 1) * std::max(std::log1p(-x), -100.0) - target * boundedLog(x)); })},
      {"binary_cross_entropy_with_logits", each([](double x, double target, double weight, double positive, P) {
         double slope = 1 + (positive - 1) * target;
         return weight * ((1 - target) * x + slope * (softplus(-std::abs(x)) + std::max(-x, 0.0)));
       })},
  };
  return kernels;
}

}  // namespace aten
