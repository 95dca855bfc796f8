// Add … Pow, Max … Mean: arithmetic on two or more broadcast inputs.

#include <fmt/format.h>

#include "graph/ops/elementwise.h"

namespace amdahl {
namespace {

// ---- How far bounds of the inputs move a result (all rigorous, infinities included).

double moved_sum(double, double ea, double, double eb, double) { return ea + eb; }

double moved_product(double a, double ea, double b, double eb, double z) {
  if (!std::isfinite(z)) return ea < std::fabs(a) && eb < std::fabs(b) ? 0 : HUGE_VAL;
  return std::fabs(a) * eb + std::fabs(b) * ea + ea * eb;
}

double moved_quotient(double a, double ea, double b, double eb, double z) {
  if (eb > 0 && eb >= std::fabs(b)) return HUGE_VAL;
  if (!std::isfinite(z)) return ea < std::fabs(a) || std::isinf(a) ? 0 : HUGE_VAL;
  if (std::isinf(b)) return 0;
  return (ea + std::fabs(z) * eb) / (std::fabs(b) - eb);
}

double moved_larger(double, double ea, double, double eb, double) { return std::fmax(ea, eb); }

// A remainder jumps by |b| where the whole part of a/b changes.
double moved_remainder(double a, double ea, double b, double eb, double (*whole)(double)) {
  if (eb > 0 && eb >= std::fabs(b)) return HUGE_VAL;
  const double q = a / b, dq = (ea + std::fabs(q) * eb) / (std::fabs(b) - eb);
  if (whole(q - dq) != whole(q + dq)) return 2 * (std::fabs(b) + eb);
  return ea + std::fabs(whole(q)) * eb;
}

// Squares and cubes are what models use; std::pow takes ten times as long.
double power(double x, double y) {
  if (y == 2) return x * x;
  if (y == 3) return x * x * x;
  return std::pow(x, y);
}

// x^y is monotone in each of them on either side of x = 0, so its extremes are at corners and at zero.
double moved_power(double a, double ea, double b, double eb, double z) {
  double d = 0;
  for (double y : {b - eb, b + eb}) {
    for (double x : {a - ea, a + ea}) d = std::fmax(d, spread(z, power(x, y)));
    if (std::fabs(a) < ea) d = std::fmax(d, spread(z, std::pow(0.0, y)));
  }
  return d;
}

double no_error(double, double, double, double) { return 0; }
double one_rounding(double, double, double z, double u) { return u * z; }
// Of Max and Min: two zeros are equal, and either is the larger.
double either_zero(double x, double y, double, double) { return are_two_zeros(x, y) ? kEitherZero : 0; }

// ---- Exact integers.

template <typename T>
T wrapping_power(T base, T exponent) {
  if constexpr (std::is_signed_v<T>) {
    if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  }
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (auto e = static_cast<uint64_t>(exponent); e; e >>= 1, square *= square)
    if (e & 1) result *= square;
  return static_cast<T>(result);
}

// Truncates; a zero divisor gives 0 (ONNX leaves it open), and -1 must not trap on the smallest integer.
template <typename T>
T quotient(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return static_cast<T>(0 - static_cast<uint64_t>(a));
  }
  return a / b;
}

template <typename T>
T remainder(T a, T b, bool sign_of_dividend) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
    const T r = a % b;
    return !sign_of_dividend && r != 0 && (r < 0) != (b < 0) ? r + b : r;
  }
  return a % b;
}

// ---- Evaluators. `ints` for integer inputs, the other three for floats.

template <typename Ints, typename F, typename Moved, typename Own>
void binary(EvalContext& c, Ints ints, F f, Moved moved, Own own) {
  if (c.out(0).is_float()) float_binary(c.bounds, c.in(0), c.in(1), c.out(0), f, moved, own);
  else int_binary(c.in(0), c.in(1), c.out(0), ints);
}

// Of a sum or difference of integers: as far as both together.
void bound_int_sum(RefTensor& out, const RefTensor& a, const RefTensor& b) {
  if (out.is_float() || out.bound.empty()) return;
  std::vector<double> zero_a, zero_b;
  broadcast_loop(out.shape, a.shape, bounds_of(a, zero_a), b.shape, bounds_of(b, zero_b), out.bound.data(), [](double ea, double eb) { return ea + eb; });
  open_where_wrapped(out);
}

void eval_add(EvalContext& c) {
  binary(
      c, [](auto a, auto b) { return static_cast<uint64_t>(a) + static_cast<uint64_t>(b); }, [](double a, double b) { return a + b; }, moved_sum, one_rounding);
  bound_int_sum(c.out(0), c.in(0), c.in(1));
}

void eval_sub(EvalContext& c) {
  binary(
      c, [](auto a, auto b) { return static_cast<uint64_t>(a) - static_cast<uint64_t>(b); }, [](double a, double b) { return a - b; }, moved_sum, one_rounding);
  bound_int_sum(c.out(0), c.in(0), c.in(1));
}

void eval_mul(EvalContext& c) {
  const double tiny = precision_of(c.out(0).dtype).tiny;
  binary(
      c, [](auto a, auto b) { return static_cast<uint64_t>(a) * static_cast<uint64_t>(b); }, [](double a, double b) { return a * b; }, moved_product,
      [=](double, double, double z, double u) { return z == 0 ? 0 : u * z + tiny; });
}

// 3u: a multiplication by the rounded reciprocal is an honest division too.
void eval_div(EvalContext& c) {
  const double tiny = precision_of(c.out(0).dtype).tiny;
  binary(
      c, [](auto a, auto b) { return quotient(a, b); }, [](double a, double b) { return a / b; }, moved_quotient,
      [=](double, double, double z, double u) { return 3 * u * z + tiny; });
}

// fmod: the sign of the dividend, exact in any precision; otherwise that of the divisor, and one addition may round.
void eval_mod(EvalContext& c) {
  const auto of_divisor = [](double a, double b) {
    const double r = std::fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
  };
  if (c.node.attr_int("fmod", 0) != 0)
    binary(
        c, [](auto a, auto b) { return remainder(a, b, true); }, [](double a, double b) { return std::fmod(a, b); },
        [](double a, double ea, double b, double eb, double) { return moved_remainder(a, ea, b, eb, std::trunc); }, no_error);
  else
    binary(
        c, [](auto a, auto b) { return remainder(a, b, false); }, of_divisor,
        [](double a, double ea, double b, double eb, double) { return moved_remainder(a, ea, b, eb, std::floor); }, one_rounding);
}

void infer_pow(InferContext& c) { c.set_output(0, c.dtype(0), broadcast(c.shape(0), c.shape(1))); }

// fp32 implementations go through exp(y log x), whose error grows with the exponent; small whole powers by multiplication.
double own_power(double x, double y, double z, double u, double tiny) {
  if (y == std::trunc(y) && std::fabs(y) <= 8) return (std::fabs(y) + 2) * u * z + tiny;
  const double grown = x == 0 ? 0 : std::fabs(y * std::log(std::fabs(x)));
  return (4 + 2 * grown) * u * z + tiny;
}

// The input as floats; integers have no bound of their own here.
RefTensor as_floats(const RefTensor& t) {
  RefTensor r{DType::kF64, t.shape, t.value, t.bound, {}};
  if (t.is_float()) return r;
  r.value.reserve(t.ints.size());
  for (int64_t v : t.ints) r.value.push_back(t.dtype == DType::kU64 ? static_cast<double>(static_cast<uint64_t>(v)) : static_cast<double>(v));
  return r;
}

void eval_pow(EvalContext& c) {
  if (!c.in(0).is_float() && !c.in(1).is_float()) {
    int_binary(c.in(0), c.in(1), c.out(0), [](auto a, auto b) { return wrapping_power(a, b); });
    return;
  }
  RefTensor result{c.out(0).is_float() ? c.out(0).dtype : DType::kF64, c.out(0).shape, {}, {}, {}};
  const double tiny = precision_of(result.dtype).tiny;
  float_binary(c.bounds, as_floats(c.in(0)), as_floats(c.in(1)), result, power, moved_power,
               [=](double x, double y, double z, double u) { return own_power(x, y, z, u, tiny); });
  if (c.out(0).is_float()) {
    c.out(0) = std::move(result);
    return;
  }
  RefTensor& out = c.out(0);
  for (size_t i = 0; i < result.value.size(); ++i) {
    const double z = std::trunc(result.value[i]);
    out.ints.push_back(std::fabs(z) < 0x1p63 ? wrap(out.dtype, static_cast<int64_t>(z)) : 0);
    if (!result.bound.empty()) out.bound.push_back(std::ceil(result.bound[i]));
  }
}

// ---- Any number of inputs, two at a time.

template <typename Pair>
void fold(EvalContext& c, Pair pair) {
  RefTensor& out = c.out(0);
  if (c.inputs.size() == 1) {
    out = c.in(0);
    return;
  }
  const RefTensor blank{out.dtype, out.shape, {}, {}, {}};
  pair(c.in(0), c.in(1), out);
  for (size_t i = 2; i < c.inputs.size(); ++i) {
    RefTensor next = blank;
    pair(out, c.in(i), next);
    out = std::move(next);
  }
}

// NaN wins, as in numpy.
void eval_max(EvalContext& c) {
  fold(c, [&](const RefTensor& a, const RefTensor& b, RefTensor& out) {
    if (out.is_float())
      float_binary(
          c.bounds, a, b, out, [](double x, double y) { return x > y || std::isnan(x) ? x : y; }, moved_larger, either_zero);
    else int_binary(a, b, out, [](auto x, auto y) { return std::max(x, y); });
  });
}

void eval_min(EvalContext& c) {
  fold(c, [&](const RefTensor& a, const RefTensor& b, RefTensor& out) {
    if (out.is_float())
      float_binary(
          c.bounds, a, b, out, [](double x, double y) { return x < y || std::isnan(x) ? x : y; }, moved_larger, either_zero);
    else int_binary(a, b, out, [](auto x, auto y) { return std::min(x, y); });
  });
}

// In any order: a partial sum is at most the sum of magnitudes.
void eval_sum(EvalContext& c) {
  fold(c, [&](const RefTensor& a, const RefTensor& b, RefTensor& out) {
    float_binary(
        c.bounds, a, b, out, [](double x, double y) { return x + y; }, moved_sum, one_rounding);
  });
  if (!c.bounds || c.inputs.size() < 3) return;
  RefTensor& out = c.out(0);
  const double u = precision_of(out.dtype).u * static_cast<double>(c.inputs.size() - 1);
  for (const RefTensor* in : c.inputs)
    broadcast_loop(out.shape, out.shape, out.bound.data(), in->shape, in->value.data(), out.bound.data(),
                   [=](double bound, double x) { return std::isfinite(x) ? bound + u * std::fabs(x) : bound; });  // an infinity is one in every order
  // Of n numbers below an n-th of where the type ends no partial sum is infinite, in whatever order.
  const double far = largest_of(out.dtype) / static_cast<double>(c.inputs.size());
  for (const RefTensor* in : c.inputs)
    broadcast_loop(out.shape, out.shape, out.bound.data(), in->shape, in->value.data(), out.bound.data(),
                   [=](double bound, double x) { return std::isfinite(x) && std::fabs(x) >= far ? HUGE_VAL : bound; });
  for (size_t i = 0; i < out.bound.size(); ++i)
    if (out.bound[i] == HUGE_VAL && !std::isnan(out.value[i])) out.value[i] = 0;
}

void eval_mean(EvalContext& c) {
  eval_sum(c);
  RefTensor& out = c.out(0);
  const auto n = static_cast<double>(c.inputs.size());
  const Precision p = precision_of(out.dtype);
  for (double& z : out.value) z /= n;
  for (size_t i = 0; i < out.bound.size(); ++i) out.bound[i] = out.bound[i] / n + 2 * p.u * std::fabs(out.value[i]) + p.tiny;
}

}  // namespace

void open_where_wrapped(RefTensor& out) {
  const auto fits = [&](double v) { return std::fabs(v) < 0x1p53 && wrap(out.dtype, static_cast<int64_t>(v)) == static_cast<int64_t>(v); };
  for (size_t i = 0; i < out.bound.size(); ++i) {
    const auto v = static_cast<double>(out.ints[i]);
    if (out.bound[i] > 0 && !(fits(v - out.bound[i]) && fits(v + out.bound[i]))) out.bound[i] = HUGE_VAL;
  }
}

std::vector<OpDef> arithmetic_ops() {
  return {
      // clang-format off
      {"", "Add", "nn", infer_broadcast, eval_add},
      {"", "Sub", "nn", infer_broadcast, eval_sub},
      {"", "Mul", "nn", infer_broadcast, eval_mul},
      {"", "Div", "nn", infer_broadcast, eval_div},
      {"", "Mod", "nn", infer_broadcast, eval_mod},
      {"", "Pow", "nn", infer_pow, eval_pow},
      {"", "Max", "n+", infer_broadcast, eval_max},
      {"", "Min", "n+", infer_broadcast, eval_min},
      {"", "Sum", "n+", infer_float_broadcast, eval_sum},
      {"", "Mean", "n+", infer_float_broadcast, eval_mean},
      // clang-format on
  };
}

}  // namespace amdahl
