// Roundings are those of the operators of the same names (activations.cc, unary_math.cc).

#include "graph/ops/recurrent_activations.h"

#include <string>

namespace amdahl {
namespace {

double sigmoid(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }

double clip(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

Carried with_exponential(const CarriedArithmetic& m, const RecurrentActivation& f, const Carried& x) {
  const double tiny = m.sums().flush, alpha = f.alpha, beta = f.beta;
  if (f.name == "sigmoid")
    return m.applied(x, sigmoid, {}, [=](double at, double z, double u) { return 6 * u * z + 2 * u * std::fabs(at) * z * std::fabs(1 - z) + tiny; });
  if (f.name == "tanh")
    return m.applied(
        x, [](double at) { return std::tanh(at); }, {},
        [=](double at, double z, double u) { return 4 * u * z + 2 * u * std::fabs(at) * std::fmax(0.0, 1 - z * z) + tiny; });
  if (f.name == "scaledtanh")
    return m.applied(
        x, [=](double at) { return alpha * std::tanh(beta * at); }, {},
        [=](double at, double z, double u) {
          const double t = std::tanh(beta * at);
          return 6 * u * z + 3 * u * std::fabs(alpha * beta * at) * (1 - t * t) + std::fabs(alpha) * tiny + tiny;
        });
  if (f.name == "elu")
    return m.applied(
        x, [=](double at) { return at < 0 ? alpha * std::expm1(at) : at; }, {0.0},
        [=](double at, double z, double u) {
          if (at > 0) return 0.0;
          const double t = std::fmin(-at, 800), e = std::exp(-t);
          return std::fabs(alpha) * u * (4 * e + 3 * t * e + 1) + 4 * u * z + tiny;
        });
  return m.applied(  // softplus
      x, [](double at) { return std::fmax(at, 0.0) + std::log1p(std::exp(-std::fabs(at))); }, {},
      [=](double at, double z, double u) {
        const double e = std::exp(-std::fabs(at));
        return 6 * u * z + 2 * u * (1 + std::fabs(at) * e) + tiny;
      });
}

}  // namespace

Carried activated(const CarriedArithmetic& m, const RecurrentActivation& f, const Carried& x) {
  const double tiny = m.sums().flush, alpha = f.alpha, beta = f.beta;
  const auto exact = [](double, double, double) { return 0.0; };
  if (f.name == "relu")
    return m.applied(
        x, [](double at) { return at < 0 ? 0.0 : at; }, {}, exact);
  if (f.name == "affine")
    return m.applied(
        x, [=](double at) { return alpha * at + beta; }, {}, [=](double at, double z, double u) { return u * (std::fabs(alpha * at) + z) + tiny; });
  if (f.name == "leakyrelu")
    return m.applied(
        x, [=](double at) { return at < 0 ? alpha * at : at; }, {0.0}, [=](double at, double z, double u) { return at < 0 ? u * z + tiny : 0; });
  if (f.name == "thresholdedrelu")
    return m.applied(
        x, [=](double at) { return at >= alpha ? at : 0.0; }, {alpha, std::nextafter(alpha, -HUGE_VAL)}, exact);
  if (f.name == "hardsigmoid")
    return m.applied(
        x, [=](double at) { return clip(alpha * at + beta, 0, 1); }, {},
        [=](double at, double, double u) {
          const double t = alpha * at + beta, e = 3 * u * (std::fabs(alpha * at) + std::fabs(beta));
          return t < -e || t > 1 + e ? 0 : e;
        });
  if (f.name == "softsign")
    return m.applied(
        x, [](double at) { return at / (1 + std::fabs(at)); }, {}, [=](double, double z, double u) { return 5 * u * z + tiny; });
  return with_exponential(m, f, x);
}

Carried clipped(const CarriedArithmetic& m, double limit, const Carried& x) {
  if (limit == HUGE_VAL) return x;
  return m.applied(
      x, [=](double at) { return clip(at, -limit, limit); }, {}, [](double, double, double) { return 0.0; });
}

}  // namespace amdahl
