// Elementary and special functions.
#include <limits>
#include <numbers>

#include "pointwise.h"
#include "special.h"

namespace aten {
namespace {

using P = const double*;
constexpr double kPi = std::numbers::pi;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double addedLogs(double a, double b, double base) {
  if (std::isinf(a) && a == b) return a;
  double more = std::max(a, b), less = std::min(a, b);
  return std::isnan(a) || std::isnan(b) ? a + b : more + std::log1p(std::exp((less - more) * base)) / base;
}

double nextBfloat16(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  if (a == b) return b;
  if (a == 0) return std::copysign(fromBfloat16({1}), b);
  uint16_t bits = toBfloat16(a).bits;
  return fromBfloat16({uint16_t((a < b) == (a > 0) ? bits + 1 : bits - 1)});
}

}  // namespace

const PointwiseKernels& functions() {
  static const PointwiseKernels kernels = {
      {"acos", each([](double x, P) { return std::acos(x); })},
      {"acosh", each([](double x, P) { return std::acosh(x); })},
      {"asin", each([](double x, P) { return std::asin(x); })},
      {"asinh", each([](double x, P) { return std::asinh(x); })},
      {"atan", each([](double x, P) { return std::atan(x); })},
      {"atanh", each([](double x, P) { return std::atanh(x); })},
      {"angle", each([](double x, P) { return std::isnan(x) ? x
                                              : x < 0       ? kPi
                                                            : 0.0; })},
      {"ceil", each([](double x, P) { return std::ceil(x); })},
      {"cos", each([](double x, P) { return std::cos(x); })},
      {"cosh", each([](double x, P) { return std::cosh(x); })},
      {"deg2rad", each([](double x, P) { return x * (kPi / 180); })},
      {"digamma", each([](double x, P) { return digamma(x); })},
      {"erf", each([](double x, P) { return std::erf(x); })},
      {"erfc", each([](double x, P) { return std::erfc(x); })},
      {"erfinv", each([](double x, P) { return inverseErf(x); })},
      {"exp", each([](double x, P) { return std::exp(x); })},
      {"exp2", each([](double x, P) { return std::exp2(x); })},
      {"expm1", each([](double x, P) { return std::expm1(x); })},
      {"floor", each([](double x, P) { return std::floor(x); })},
      {"frac", each([](double x, P) { return x - std::trunc(x); })},
      {"i0", each([](double x, P) { return besselI0(x); })},
      {"isinf", each([](double x, P) { return std::isinf(x); })},
      {"isnan", each([](double x, P) { return std::isnan(x); })},
      {"isneginf", each([](double x, P) { return x == -kInfinity; })},
      {"isposinf", each([](double x, P) { return x == kInfinity; })},
      {"lgamma", each([](double x, P) { return std::lgamma(x); })},
      {"log", each([](double x, P) { return std::log(x); })},
      {"log10", each([](double x, P) { return std::log10(x); })},
      {"log1p", each([](double x, P) { return std::log1p(x); })},
      {"log2", each([](double x, P) { return std::log2(x); })},
      {"logit", each([](double x, P p) {
         double z = p[0] < 0 ? x : x < p[0] ? p[0] : x > 1 - p[0] ? 1 - p[0] : x;
         return std::log(z / (1 - z));
       })},
      {"mvlgamma", each([](double x, P p) { return logMultigamma(x, int(p[0])); })},
      {"nan_to_num", each([](double x, P p) { return std::isnan(x)     ? p[0]
                                                     : x == kInfinity  ? p[1]
                                                     : x == -kInfinity ? p[2]
                                                                       : x; })},
      {"rad2deg", each([](double x, P) { return x * (180 / kPi); })},
      {"reciprocal", each([](double x, P) { return 1 / x; })},
      {"round", each([](double x, P) { return std::nearbyint(x); })},
      {"round_decimals", each([](double x, P p) {
         double scale = std::pow(10, std::abs(p[0]));
         return p[0] < 0 ? std::nearbyint(x / scale) * scale : std::nearbyint(x * scale) / scale;
       })},
      {"rsqrt", each([](double x, P) { return 1 / std::sqrt(x); })},
      {"sigmoid", each([](double x, P) { return 1 / (1 + std::exp(-x)); })},
      {"signbit", each([](double x, P) { return std::signbit(x); })},
      {"sin", each([](double x, P) { return std::sin(x); })},
      {"sinc", each([](double x, P) { return x == 0 ? 1.0 : std::sin(kPi * x) / (kPi * x); })},
      {"sinh", each([](double x, P) { return std::sinh(x); })},
      {"sqrt", each([](double x, P) { return std::sqrt(x); })},
      {"tan", each([](double x, P) { return std::tan(x); })},
      {"tanh", each([](double x, P) { return std::tanh(x); })},
      {"trunc", each([](double x, P) { return std::trunc(x); })},
      {"mantissa", each([](double x, P) {
         int exponent = 0;
         return std::frexp(x, &exponent);
       })},
      {"exponent", each([](double x, P) {
         int exponent = 0;
         std::frexp(x, &exponent);
         return std::isfinite(x) ? exponent : 0;
       })},
      {"atan2", each([](double y, double x, P) { return std::atan2(y, x); })},
      {"copysign", each([](double a, double b, P) { return std::copysign(a, b); })},
      {"hypot", each([](double a, double b, P) { return std::hypot(a, b); })},
      {"igamma", each([](double a, double x, P) { return lowerGamma(a, x); })},
      {"igammac", each([](double a, double x, P) { return upperGamma(a, x); })},
      {"ldexp", each([](double a, double b, P) { return a * std::exp2(b); })},
      {"logaddexp", each([](double a, double b, P) { return addedLogs(a, b, 1); })},
      {"logaddexp2", each([](double a, double b, P) { return addedLogs(a, b, std::numbers::ln2); })},
      {"nextafter_float", each([](double a, double b, P) { return double(std::nextafter(float(a), float(b))); })},
      {"nextafter_double", each([](double a, double b, P) { return std::nextafter(a, b); })},
      {"nextafter_bfloat16", each([](double a, double b, P) { return nextBfloat16(a, b); })},
      {"polar_real", each([](double r, double phi, P) { return r * std::cos(phi); })},
      {"polar_imaginary", each([](double r, double phi, P) { return r * std::sin(phi); })},
      {"xlogy", each([](double x, double y, P) { return std::isnan(y) ? y
                                                        : x == 0      ? 0
                                                                      : x * std::log(y); })},
      {"power_base", each([](double x, P p) { return std::pow(p[0], x); })},
  };
  return kernels;
}

}  // namespace aten
