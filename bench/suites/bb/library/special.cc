#include "special.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace aten {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kTerms = 100000;  // of a series that converges: never reached but for huge arguments

// x^a e^-x / Gamma(a + 1)
double factor(double a, double x) { return std::exp(a * std::log(x) - x - std::lgamma(a + 1)); }

double lowerSeries(double a, double x) {
  double term = 1, sum = 1;
  for (int n = 1; n < kTerms && std::abs(term) > 1e-17 * std::abs(sum); ++n) sum += term *= x / (a + n);
  return sum * factor(a, x);
}

// Lentz's evaluation of the continued fraction of the upper function.
double upperFraction(double a, double x) {
  double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;
  for (int n = 1; n < kTerms; ++n) {
    double an = -n * (n - a);
    b += 2;
    d = 1 / (an * d + b);
    c = b + an / c;
    h *= c * d;
    if (std::abs(c * d - 1) < 1e-16) break;
  }
  return h * a * factor(a, x);
}

bool isSeries(double a, double x) { return x < a + 1; }

}  // namespace

double besselI0(double x) {
  x = std::abs(x);
  if (x > 700) return std::exp(x - 0.5 * std::log(2 * std::numbers::pi * x)) * (1 + 1 / (8 * x));
  double term = 1, sum = 1, quarter = x * x / 4;
  for (int k = 1; k < kTerms && term > 1e-17 * sum; ++k) sum += term *= quarter / (double(k) * k);
  return sum;
}

double digamma(double x) {
  if (x == 0) return std::copysign(kInfinity, -x);
  if (x < 0 && x == std::floor(x)) return kNan;
  if (x < 0) return digamma(1 - x) - std::numbers::pi / std::tan(std::numbers::pi * (x - std::floor(x)));
  double sum = 0;
  for (; x < 12; ++x) sum -= 1 / x;
  double y = 1 / (x * x);
  double series = y * (1. / 12 - y * (1. / 120 - y * (1. / 252 - y * (1. / 240 - y * (1. / 132 - y * (691. / 32760 - y / 12))))));
  return sum + std::log(x) - 0.5 / x - series;
}

double inverseErf(double y) {
  if (std::isnan(y) || std::abs(y) > 1) return kNan;
  if (std::abs(y) == 1) return std::copysign(kInfinity, y);
  double w = -std::log1p(-y * y), t = 2 / (std::numbers::pi * 0.147) - w / 2;  // Winitzki's start, then Halley's steps
  double x = std::copysign(std::sqrt(std::max(0.0, std::sqrt(t * t + w / 0.147) - t)), y);
  if (std::abs(y) < 0.5) x = y * std::sqrt(std::numbers::pi) / 2;
  for (int i = 0; i < 6; ++i) {
    double off = y > 0 ? (1 - y) - std::erfc(x) : std::erfc(-x) - (1 + y);
    double step = off / (2 / std::sqrt(std::numbers::pi) * std::exp(-x * x));
    x -= step / (1 + x * step);
  }
  return x;
}

double lowerGamma(double a, double x) {
  if (std::isnan(a) || std::isnan(x) || a < 0 || x < 0) return kNan;
  if (a == 0) return x > 0 ? 1 : kNan;
  if (x == 0) return 0;
  if (std::isinf(a)) return std::isinf(x) ? kNan : 0;
  if (std::isinf(x)) return 1;
  return isSeries(a, x) ? lowerSeries(a, x) : 1 - upperFraction(a, x);
}

double upperGamma(double a, double x) {
  if (std::isnan(a) || std::isnan(x) || a < 0 || x < 0) return kNan;
  if (a == 0) return x > 0 ? 0 : kNan;
  if (x == 0) return 1;
  if (std::isinf(a)) return std::isinf(x) ? kNan : 1;
  if (std::isinf(x)) return 0;
  return isSeries(a, x) ? 1 - lowerSeries(a, x) : upperFraction(a, x);
}

double logMultigamma(double x, int p) {
  double sum = p * (p - 1) / 4.0 * std::log(std::numbers::pi);
  for (int i = 0; i < p; ++i) sum += std::lgamma(x - i / 2.0);
  return sum;
}

}  // namespace aten
