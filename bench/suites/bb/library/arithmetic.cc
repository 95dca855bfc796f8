// Sums, quotients, comparisons: what integers have too.
#include "pointwise.h"

namespace aten {
namespace {

using P = const double*;

constexpr auto isNan = [](auto x) { return x != x; };

template <class C>
C greater(C a, C b) {
  return isNan(a) || a > b ? a : b;
}
template <class C>
C smaller(C a, C b) {
  return isNan(a) || a < b ? a : b;
}

double truncated(double a, double b) { return std::trunc(a / b); }
int64_t truncated(int64_t a, int64_t b) { return a / b; }

// Whole when it is within rounding of a whole number: a / b may round up to one that a - b does not reach.
double floored(double a, double b) {
  if (b == 0) return a / b;
  double rest = std::fmod(a, b), quotient = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  double floor = std::floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
}
int64_t floored(int64_t a, int64_t b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }

double remainder(double a, double b) {
  double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
int64_t remainder(int64_t a, int64_t b) { return a - floored(a, b) * b; }

double power(double a, double b) { return std::pow(a, b); }
int64_t power(int64_t a, int64_t b) {
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
  uint64_t base = uint64_t(a), result = 1;
  for (; b; b >>= 1, base *= base)
    if (b & 1) result *= base;
  return int64_t(result);
}

// As PyTorch makes the edges of bins: what is counted between them must be counted between the edges that are returned.
float spacedInFloats(int64_t i, float start, float end, int64_t steps) {
  float step = (end - start) / float(steps - 1);
  return i < steps / 2 ? start + step * float(i) : end - step * float(steps - i - 1);
}

}  // namespace

const PointwiseKernels& arithmetic() {
  static const PointwiseKernels kernels = {
      {"fill", each([](P p) { return p[0]; })},
      {"copy", each([](auto x, P) { return x; })},
      {"scale", each([](auto x, P p) { return x * decltype(x)(p[0]); })},
      {"add", each([](auto a, auto b, P p) { return a + decltype(a)(p[0]) * b; })},
      {"sub", each([](auto a, auto b, P p) { return a - decltype(a)(p[0]) * b; })},
      {"mul", each([](auto a, auto b, P) { return a * b; })},
      {"div", each([](double a, double b, P) { return a / b; })},
      {"div_trunc", each([](auto a, auto b, P) { return truncated(a, b); })},
      {"div_floor", each([](auto a, auto b, P) { return floored(a, b); })},
      {"fmod", each([](auto a, auto b, P) {
         if constexpr (std::is_same_v<decltype(a), double>) return std::fmod(a, b);
         else return a % b;
       })},
      {"remainder", each([](auto a, auto b, P) { return remainder(a, b); })},
      {"pow", each([](auto a, auto b, P) { return power(a, b); })},
      {"maximum", each([](auto a, auto b, P) { return isNan(b) ? b : greater(a, b); })},
      {"minimum", each([](auto a, auto b, P) { return isNan(b) ? b : smaller(a, b); })},
      {"fmax", each([](auto a, auto b, P) { return isNan(a)   ? b
                                                   : isNan(b) ? a
                                                              : greater(a, b); })},
      {"fmin", each([](auto a, auto b, P) { return isNan(a)   ? b
                                                   : isNan(b) ? a
                                                              : smaller(a, b); })},
      {"clamp", each([](auto x, auto low, auto high, P) {
         if (isNan(low)) return low;
         if (isNan(high)) return high;
         return isNan(x) ? x : smaller(greater(x, low), high);
       })},
      {"eq", each([](auto a, auto b, P) { return a == b; })},
      {"ne", each([](auto a, auto b, P) { return a != b; })},
      {"lt", each([](auto a, auto b, P) { return a < b; })},
      {"le", each([](auto a, auto b, P) { return a <= b; })},
      {"gt", each([](auto a, auto b, P) { return a > b; })},
      {"ge", each([](auto a, auto b, P) { return a >= b; })},
      {"logical_not", each([](auto a, P) { return a == 0; })},
      {"logical_and", each([](auto a, auto b, P) { return a != 0 && b != 0; })},
      {"logical_or", each([](auto a, auto b, P) { return a != 0 || b != 0; })},
      {"logical_xor", each([](auto a, auto b, P) { return (a != 0) != (b != 0); })},
      {"heaviside", each([](auto x, auto at_zero, P) { return isNan(x) ? x
                                                              : x == 0 ? at_zero
                                                                       : decltype(x)(x > 0); })},
      {"where", each([](auto mask, auto a, auto b, P) { return mask != 0 ? a : b; })},
      {"close", each([](double a, double b, P p) {
         if (isNan(a) || isNan(b)) return p[2] != 0 && isNan(a) && isNan(b);
         return a == b || (std::isfinite(b) && std::isfinite(a) && std::abs(a - b) <= p[1] + std::abs(p[0] * b));
       })},
      {"abs", each([](auto x, P) { return std::abs(x); })},
      {"neg", each([](auto x, P) { return -x; })},
      {"sign", each([](auto x, P) { return (x > 0) - (x < 0); })},
      {"addcmul", each([](auto x, auto a, auto b, P p) { return x + decltype(x)(p[0]) * a * b; })},
      {"addcdiv", each([](double x, double a, double b, P p) { return x + p[0] * a / b; })},
      {"lerp", each([](double a, double b, double weight, P) { return a + weight * (b - a); })},
      {"triangle", each([](auto x, auto row, auto column, P p) { return (p[1] != 0 ? column - row >= p[0] : column - row <= p[0]) ? x : 0; })},
      {"fill_like", each([](auto, P p) { return p[0]; })},
      {"sequence", each([](double i, P p) { return p[0] + i * p[1]; })},
      {"spaced", each([](double i, P p) {
         if (p[3] != 0) return double(spacedInFloats(int64_t(i), float(p[0]), float(p[1]), int64_t(p[2])));
         double step = p[2] > 1 ? (p[1] - p[0]) / (p[2] - 1) : 0;
         return i < std::floor(p[2] / 2) ? p[0] + i * step : p[2] > 1 ? p[1] - (p[2] - 1 - i) * step : p[0];
       })},
  };
  return kernels;
}

}  // namespace aten
