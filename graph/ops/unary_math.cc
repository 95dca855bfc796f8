// Functions of one number from mathematics: Exp, Log, Sin … and the exact ones Abs, Neg, Floor, Round, Sign.
//
// An honest fp32 form of a smooth f is within 4u|f| of it, plus 2u|x f'(x)| for the rounded argument, plus the smallest normal
// where the result underflows. The argument of a circular function is what whole turns leave of x: half a turn at most, however large x is.

#include <numbers>

#include "graph/ops/elementwise.h"

namespace amdahl {
namespace {

constexpr double kPi = std::numbers::pi;

// slope(x, |f|): |f'|.
template <typename F, typename Moved, typename Slope>
void smooth(EvalContext& c, F f, Moved moved, Slope slope) {
  const double tiny = precision_of(c.out(0).dtype).tiny;
  float_unary(c, f, moved, [=](double x, double z, double u) {
    const double argument = x == 0 || z == 0 ? 0.0 : std::fabs(x) * slope(x, z);
    return 4 * u * z + 2 * u * (std::isnan(argument) ? 0.0 : argument) + tiny;
  });
}

// ---- Exact.

template <typename Ints, typename F>
void exact(EvalContext& c, Ints ints, F f, std::initializer_list<double> turning = {}) {
  if (c.out(0).is_float()) {
    exact_unary(c, f, turning);
    return;
  }
  c.out(0).bound = c.in(0).bound;
  for (int64_t v : c.in(0).ints) c.out(0).ints.push_back(wrap(c.out(0).dtype, ints(v)));
}

void eval_abs(EvalContext& c) {
  const bool is_unsigned = c.in(0).dtype == DType::kU64;
  exact(
      c, [=](int64_t v) { return v < 0 && !is_unsigned ? static_cast<int64_t>(0 - static_cast<uint64_t>(v)) : v; }, [](double x) { return std::fabs(x); },
      {0.0});
}

void eval_neg(EvalContext& c) {
  exact(
      c, [](int64_t v) { return static_cast<int64_t>(0 - static_cast<uint64_t>(v)); }, [](double x) { return -x; });
}

void eval_sign(EvalContext& c) {
  const bool is_unsigned = c.in(0).dtype == DType::kU64;
  exact(
      c, [=](int64_t v) { return is_unsigned ? int64_t{v != 0} : int64_t{v > 0} - int64_t{v < 0}; }, [](double x) { return x > 0   ? 1.0
                                                                                                                           : x < 0 ? -1.0
                                                                                                                                   : x; });
}

void eval_ceil(EvalContext& c) {
  exact_unary(c, [](double x) { return std::ceil(x); });
}
void eval_floor(EvalContext& c) {
  exact_unary(c, [](double x) { return std::floor(x); });
}
void eval_round(EvalContext& c) {  // half to even
  exact_unary(c, [](double x) { return std::nearbyint(x); });
}

// ---- Roots, exponentials, logarithms.

void eval_sqrt(EvalContext& c) {
  const auto f = [](double x) { return std::sqrt(x); };
  float_unary(c, f, monotone(f, {}, 0.0), [](double, double z, double u) { return u * z; });
}

void eval_reciprocal(EvalContext& c) {
  const double tiny = precision_of(c.out(0).dtype).tiny;
  float_unary(
      c, [](double x) { return 1 / x; }, [](double x, double e, double z) { return e >= std::fabs(x) ? HUGE_VAL : std::fabs(z) * e / (std::fabs(x) - e); },
      [=](double, double z, double u) { return 2 * u * z + tiny; });
}

void eval_exp(EvalContext& c) {
  const auto f = [](double x) { return std::exp(x); };
  smooth(c, f, monotone(f), [](double, double z) { return z; });
}

void eval_log(EvalContext& c) {
  const auto f = [](double x) { return std::log(x); };
  smooth(c, f, monotone(f, {}, 0.0), [](double x, double) { return 1 / std::fabs(x); });
}

void eval_erf(EvalContext& c) {
  const auto f = [](double x) { return std::erf(x); };
  smooth(c, f, monotone(f), [](double x, double) { return 2 / std::sqrt(kPi) * std::exp(-x * x); });
}

// ---- Circular and hyperbolic.

// |sin a - sin b| and |cos a - cos b| are at most |a - b|, and at most 2.
double moved_wave(double, double e, double) { return std::fmin(e, 2.0); }

// slope(x, |f|), of the reduced argument that smooth() multiplies by x.
template <typename Slope>
auto of_reduced(Slope slope) {
  return [=](double x, double z) { return slope(x, z) * std::fmin(1.0, kPi / std::fabs(x)); };
}

void eval_sin(EvalContext& c) {
  smooth(
      c, [](double x) { return std::sin(x); }, moved_wave, of_reduced([](double x, double) { return std::fabs(std::cos(x)); }));
}

void eval_cos(EvalContext& c) {
  smooth(
      c, [](double x) { return std::cos(x); }, moved_wave, of_reduced([](double x, double) { return std::fabs(std::sin(x)); }));
}

void eval_tan(EvalContext& c) {
  const auto f = [](double x) { return std::tan(x); };
  const auto between_poles = monotone(f);
  smooth(
      c, f,
      [=](double x, double e, double z) {
        const bool pole = std::floor((x - e) / kPi + 0.5) != std::floor((x + e) / kPi + 0.5);
        return pole ? HUGE_VAL : between_poles(x, e, z);
      },
      of_reduced([](double, double z) { return 1 + z * z; }));
}

void eval_asin(EvalContext& c) {
  const auto f = [](double x) { return std::asin(x); };
  smooth(c, f, monotone(f, {}, -1.0, 1.0), [](double x, double) { return x * x < 1 ? 1 / std::sqrt(1 - x * x) : 0; });
}

void eval_acos(EvalContext& c) {
  const auto f = [](double x) { return std::acos(x); };
  smooth(c, f, monotone(f, {}, -1.0, 1.0), [](double x, double) { return x * x < 1 ? 1 / std::sqrt(1 - x * x) : 0; });
}

void eval_atan(EvalContext& c) {
  const auto f = [](double x) { return std::atan(x); };
  smooth(c, f, monotone(f), [](double x, double) { return 1 / (1 + x * x); });
}

void eval_sinh(EvalContext& c) {
  const auto f = [](double x) { return std::sinh(x); };
  smooth(c, f, monotone(f), [](double x, double) { return std::cosh(x); });
}

void eval_cosh(EvalContext& c) {
  const auto f = [](double x) { return std::cosh(x); };
  smooth(c, f, monotone(f, {0.0}), [](double x, double) { return std::fabs(std::sinh(x)); });
}

void eval_tanh(EvalContext& c) {
  const auto f = [](double x) { return std::tanh(x); };
  smooth(c, f, monotone(f), [](double, double z) { return std::fmax(0.0, 1 - z * z); });
}

void eval_asinh(EvalContext& c) {
  const auto f = [](double x) { return std::asinh(x); };
  smooth(c, f, monotone(f), [](double x, double) { return 1 / std::sqrt(x * x + 1); });
}

void eval_acosh(EvalContext& c) {
  const auto f = [](double x) { return std::acosh(x); };
  smooth(c, f, monotone(f, {}, 1.0), [](double x, double) { return x > 1 ? 1 / std::sqrt(x * x - 1) : 0; });
}

void eval_atanh(EvalContext& c) {
  const auto f = [](double x) { return std::atanh(x); };
  smooth(c, f, monotone(f, {}, -1.0, 1.0), [](double x, double) { return x * x < 1 ? 1 / (1 - x * x) : 0; });
}

}  // namespace

std::vector<OpDef> unary_math_ops() {
  return {
      // clang-format off
      {"", "Abs", "n", infer_same, eval_abs},
      {"", "Neg", "n", infer_same, eval_neg},
      {"", "Sign", "n", infer_same, eval_sign},
      {"", "Ceil", "f", infer_float, eval_ceil},
      {"", "Floor", "f", infer_float, eval_floor},
      {"", "Round", "f", infer_float, eval_round},
      {"", "Sqrt", "f", infer_float, eval_sqrt},
      {"", "Reciprocal", "f", infer_float, eval_reciprocal},
      {"", "Exp", "f", infer_float, eval_exp},
      {"", "Log", "f", infer_float, eval_log},
      {"", "Erf", "f", infer_float, eval_erf},
      {"", "Sin", "f", infer_float, eval_sin},
      {"", "Cos", "f", infer_float, eval_cos},
      {"", "Tan", "f", infer_float, eval_tan},
      {"", "Asin", "f", infer_float, eval_asin},
      {"", "Acos", "f", infer_float, eval_acos},
      {"", "Atan", "f", infer_float, eval_atan},
      {"", "Sinh", "f", infer_float, eval_sinh},
      {"", "Cosh", "f", infer_float, eval_cosh},
      {"", "Tanh", "f", infer_float, eval_tanh},
      {"", "Asinh", "f", infer_float, eval_asinh},
      {"", "Acosh", "f", infer_float, eval_acosh},
      {"", "Atanh", "f", infer_float, eval_atanh},
      // clang-format on
  };
}

}  // namespace amdahl
