// Activation functions. Bounds follow the forms that kernels really use (one exp, tanh or erf each), cancellation included:
// 1 + erf near -1 and exp - 1 near 0 lose relative accuracy, not absolute.

#include <limits>
#include <numbers>

#include "graph/node_upgrade.h"
#include "graph/ops/elementwise.h"

namespace amdahl {
namespace {

constexpr double kInvSqrt2 = std::numbers::sqrt2 / 2;
constexpr double kGeluTanhScale = 0.7978845608028654;  // sqrt(2 / pi)

double sigmoid(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }
double softplus(double x) { return std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }
// x = -inf and +inf by their limits, where the products below would be inf * 0.
template <typename F>
auto gate(F f) {
  return [f](double x) { return std::isinf(x) ? (x > 0 ? x : -0.0) : x * f(x); };
}
double gelu_erf_factor(double x) { return 0.5 * std::erfc(-x * kInvSqrt2); }
double gelu_tanh_factor(double x) { return sigmoid(2 * kGeluTanhScale * (x + 0.044715 * x * x * x)); }

// ---- Piecewise linear.

void eval_relu(EvalContext& c) {
  if (c.out(0).is_float()) {
    exact_unary(c, [](double x) { return x < 0 ? 0.0 : x; });
    open_zero_signs(c, [](double x) { return std::signbit(x); });
    return;
  }
  c.out(0).bound = c.in(0).bound;
  for (int64_t v : c.in(0).ints) c.out(0).ints.push_back(std::max<int64_t>(v, 0));
}

void eval_leaky_relu(EvalContext& c) {
  const double alpha = c.node.attr_float("alpha", 0.01f), tiny = precision_of(c.out(0).dtype).tiny;
  const auto f = [=](double x) { return x < 0 ? alpha * x : x; };
  float_unary(c, f, monotone(f, {0.0}), [=](double x, double z, double u) { return x < 0 ? u * z + tiny : 0; });
}

void infer_prelu(InferContext& c) {
  if (!is_float(c.dtype(0)) || c.dtype(1) != c.dtype(0)) throw Refusal("PRelu of these types is not supported");
  if (broadcast(c.shape(0), c.shape(1)) != c.shape(0)) throw Refusal("the slope of PRelu must broadcast to its input");
  infer_same(c);
}

void eval_prelu(EvalContext& c) {
  const double tiny = precision_of(c.out(0).dtype).tiny;
  const auto f = [](double x, double s) { return x < 0 ? s * x : x; };
  float_binary(
      c.bounds, c.in(0), c.in(1), c.out(0), f,
      [=](double x, double ex, double s, double es, double z) {
        double d = 0;
        for (double slope : {s - es, s + es}) {
          for (double at : {x - ex, x + ex}) d = std::fmax(d, spread(z, f(at, slope)));
          if (std::fabs(x) < ex) d = std::fmax(d, std::fabs(z));
        }
        return d;
      },
      [=](double x, double, double z, double u) { return x < 0 ? u * z + tiny : 0; });
}

void eval_thresholded_relu(EvalContext& c) {
  const double alpha = c.node.attr_float("alpha", 1.0);
  exact_unary(c, [=](double x) { return x > alpha ? x : 0.0; }, {std::nextafter(alpha, HUGE_VAL)});
  open_zero_signs(c, [](double x) { return std::signbit(x); });
}

void eval_shrink(EvalContext& c) {
  const double bias = c.node.attr_float("bias", 0.0), lambda = c.node.attr_float("lambd", 0.5);
  const auto f = [=](double x) { return x < -lambda ? x + bias : x > lambda ? x - bias : 0.0; };
  if (!c.out(0).is_float()) {
    for (const double e : c.in(0).bound) c.out(0).bound.push_back(e > 0 ? HUGE_VAL : 0);  // it may be on either side of a step
    const auto whole = [](double z) { return z >= 0x1p63 ? INT64_MAX : z >= -0x1p63 ? static_cast<int64_t>(z) : std::isnan(z) ? 0 : INT64_MIN; };
    for (int64_t v : c.in(0).ints) c.out(0).ints.push_back(wrap(c.out(0).dtype, whole(f(static_cast<double>(v)))));
    return;
  }
  float_unary(c, f, monotone(f, {std::nextafter(lambda, HUGE_VAL), std::nextafter(-lambda, -HUGE_VAL)}),
              [=](double x, double z, double u) { return std::fabs(x) > lambda ? u * z : 0; });
}

// min(max(x, lo), hi), where NaN in any of the three is the result.
double clip(double x, double lo, double hi) {
  if (std::isnan(lo) || std::isnan(hi)) return std::numeric_limits<double>::quiet_NaN();
  const double t = x < lo ? lo : x;
  return t > hi ? hi : t;
}

void infer_clip(InferContext& c) {
  if (c.node.version < 11 && c.input_count() > 1) throw Refusal("the limits of Clip are attributes before opset 11");
  if (c.node.version >= 11)
    for (size_t i = 1; i < 3; ++i)
      if (c.has_input(i) && numel(c.shape(i)) != 1) throw Refusal("the limits of Clip must be scalars");
  for (size_t i = 1; i < c.input_count(); ++i)
    if (c.has_input(i) && c.dtype(i) != c.dtype(0)) throw Refusal("the limits of Clip must be of the input's type");
  infer_same(c);
}

// One that is not given is the type's largest finite number, so that an infinity does not pass. Before opset 11 the limits are attributes, by default the
// largest numbers of float32, which in float16 are infinities.
void eval_clip(EvalContext& c) {
  const auto has = [&](size_t i) { return c.node.version >= 11 && c.has_input(i); };
  RefTensor& out = c.out(0);
  if (!out.is_float()) {
    const bool is_unsigned = out.dtype == DType::kU64;
    const auto less = [=](int64_t a, int64_t b) { return is_unsigned ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b; };
    for (int64_t v : c.in(0).ints) {
      if (has(1) && less(v, c.in(1).ints[0])) v = c.in(1).ints[0];
      if (has(2) && less(c.in(2).ints[0], v)) v = c.in(2).ints[0];
      out.ints.push_back(v);
    }
    out.bound = c.in(0).bound;
    return;
  }
  const bool by_attribute = c.node.version < 11;
  const double largest = largest_of(by_attribute ? DType::kF32 : out.dtype);
  const Finish finish(out);
  const double lo = has(1) ? c.in(1).value[0] : by_attribute ? c.node.attr_float("min", -largest) : -largest;
  const double hi = has(2) ? c.in(2).value[0] : by_attribute ? c.node.attr_float("max", largest) : largest;
  exact_unary(c, [=](double x) { return finish.value(clip(x, lo, hi)); });
  open_zero_signs(c, [=](double x) { return are_two_zeros(x, lo) || are_two_zeros(x, hi); });
  // Limits that are computed move the result by no more than they move.
  const double limits = std::fmax(has(1) ? c.in(1).bound_at(0) : 0.0, has(2) ? c.in(2).bound_at(0) : 0.0);
  if (!c.bounds || limits == 0) return;
  out.bound.resize(out.value.size(), 0.0);
  for (double& b : out.bound) b = std::fmax(b, limits);
}

double own_hard_sigmoid(double x, double alpha, double beta, double u) { return std::isinf(x) ? 0 : 3 * u * (std::fabs(alpha * x) + std::fabs(beta)); }

void eval_hard_sigmoid(EvalContext& c) {
  const double alpha = c.node.attr_float("alpha", 0.2f), beta = c.node.attr_float("beta", 0.5);
  const auto f = [=](double x) { return clip(alpha * x + beta, 0, 1); };
  float_unary(c, f, monotone(f), [=](double x, double, double u) {
    const double t = alpha * x + beta, e = own_hard_sigmoid(x, alpha, beta, u);
    return t < -e || t > 1 + e ? 0 : e;
  });
}

void eval_hard_swish(EvalContext& c) {
  const auto f = gate([](double x) { return clip(x / 6 + 0.5, 0, 1); });
  float_unary(c, f, monotone(f, {-1.5}), [](double x, double z, double u) {
    return std::isinf(x) ? 0 : std::fabs(x) > 3.001 ? (x > 0 ? u * z : 0) : std::fabs(x) * own_hard_sigmoid(x, 1. / 6, 0.5, u) + u * z;
  });
}

// ---- With an exponential.

// scale * (x > 0 ? x : alpha * (exp(x / divisor) - 1)): Elu, Selu, Celu.
void eval_elu_form(EvalContext& c, double scale, double alpha, double divisor) {
  const double tiny = precision_of(c.out(0).dtype).tiny;
  const auto f = [=](double x) { return scale * (x < 0 ? alpha * std::expm1(x / divisor) : x); };
  float_unary(c, f, monotone(f, {0.0}), [=](double x, double z, double u) {
    if (x > 0) return scale == 1 ? 0 : 2 * u * z + tiny;
    const double t = std::fmin(std::fabs(x / divisor), 800), e = std::exp(-t);
    return std::fabs(scale * alpha) * u * (4 * e + 3 * t * e + 1) + 4 * u * z + tiny;
  });
}

void eval_elu(EvalContext& c) { eval_elu_form(c, 1, c.node.attr_float("alpha", 1.0), 1); }
void eval_selu(EvalContext& c) { eval_elu_form(c, c.node.attr_float("gamma", 1.0507010221481323), c.node.attr_float("alpha", 1.6732631921768188), 1); }
void eval_celu(EvalContext& c) {
  const double alpha = c.node.attr_float("alpha", 1.0);
  eval_elu_form(c, 1, alpha, alpha);
}

double own_sigmoid(double x, double z, double u, double tiny) {
  const double argument = std::isinf(x) ? 0 : std::fabs(x) * z * std::fabs(1 - z);
  return 6 * u * z + 2 * u * argument + tiny;
}

void eval_sigmoid(EvalContext& c) {
  const double tiny = precision_of(c.out(0).dtype).tiny;
  float_unary(c, sigmoid, monotone(sigmoid), [=](double x, double z, double u) { return own_sigmoid(x, z, u, tiny); });
}

// log(1 + exp(x)) rounds 1 + exp(x): an absolute u.
void eval_softplus(EvalContext& c) {
  const double tiny = precision_of(c.out(0).dtype).tiny;
  float_unary(c, softplus, monotone(softplus), [=](double x, double z, double u) {
    const double e = std::exp(-std::fabs(x));
    return std::isinf(x) ? 0 : 6 * u * z + 2 * u * (1 + std::fabs(x) * e) + tiny;
  });
}

void eval_softsign(EvalContext& c) {
  const double tiny = precision_of(c.out(0).dtype).tiny;
  const auto f = [](double x) { return std::isinf(x) ? std::copysign(1.0, x) : x / (1 + std::fabs(x)); };
  float_unary(c, f, monotone(f), [=](double, double z, double u) { return 5 * u * z + tiny; });
}

// x times a factor in [0, 1] that carries 4u absolute: Gelu, Mish. `lowest` is where the function has its minimum.
template <typename F>
void eval_gated(EvalContext& c, F f, double lowest) {
  const double tiny = precision_of(c.out(0).dtype).tiny;
  float_unary(c, f, monotone(f, {lowest}),
              [=](double x, double z, double u) { return std::isinf(x) ? (x < 0 ? tiny : 0) : 6 * u * z + 4 * u * std::fabs(x) + tiny; });
}

void eval_gelu_erf(EvalContext& c) { eval_gated(c, gate(gelu_erf_factor), -0.7517915246935645); }
void eval_gelu_tanh(EvalContext& c) { eval_gated(c, gate(gelu_tanh_factor), -0.7524614243131616); }

void infer_gelu(InferContext& c) {
  const std::string approximate = c.node.attr_string("approximate", "none");
  if (approximate != "none" && approximate != "tanh") throw Refusal("unknown approximation '" + approximate + "'");
  infer_float(c);
}

void eval_gelu(EvalContext& c) {
  if (c.node.attr_string("approximate", "none") == "tanh") eval_gelu_tanh(c);
  else eval_gelu_erf(c);
}

void eval_mish(EvalContext& c) {
  eval_gated(c, gate([](double x) { return std::tanh(softplus(x)); }), -1.1924312202063197);
}

// ---- com.microsoft.

// x * sigmoid(alpha x); minimum where alpha x = -1.2784645427610738.
void eval_quick_gelu(EvalContext& c) {
  const double alpha = c.node.attr_float("alpha", 1.702f), tiny = precision_of(c.out(0).dtype).tiny;
  const auto f = gate([=](double x) { return sigmoid(alpha * x); });
  float_unary(c, f, monotone(f, {-1.2784645427610738 / alpha}), [=](double x, double z, double u) {
    if (std::isinf(x)) return x < 0 ? tiny : 0;
    return std::fabs(x) * (own_sigmoid(alpha * x, sigmoid(alpha * x), u, tiny) + tiny) + 4 * u * z + tiny;
  });
}

void infer_bias_gelu(InferContext& c) {
  if (c.has_input(1) && (c.dtype(1) != c.dtype(0) || c.shape(1).size() != 1 || c.shape(0).empty() || c.shape(1)[0] != c.shape(0).back()))
    throw Refusal("the bias must be a vector as long as the last dimension");
  infer_float(c);
}

// The bias is added in fp32's rounding, then `gelu` runs on the sum with its bound.
void eval_with_bias(EvalContext& c, void (*gelu)(EvalContext&)) {
  if (!c.has_input(1)) {
    gelu(c);
    return;
  }
  RefTensor sum{c.out(0).dtype, c.out(0).shape, {}, {}, {}};
  float_binary(
      c.bounds, c.in(0), c.in(1), sum, [](double a, double b) { return a + b; }, [](double, double ea, double, double eb, double) { return ea + eb; },
      [](double, double, double z, double u) { return u * z; });
  EvalContext inner{c.node, c.bounds, {&sum}, std::move(c.outputs)};
  gelu(inner);
  c.outputs = std::move(inner.outputs);
}

void eval_bias_gelu(EvalContext& c) { eval_with_bias(c, eval_gelu_erf); }
void eval_fast_gelu(EvalContext& c) { eval_with_bias(c, eval_gelu_tanh); }

// The limits of a Clip without limits, when these were attributes.
constexpr double kLargest = std::numeric_limits<float>::max();

void limits_to_inputs(NodeUpgrade& u) {
  u.float_to_input("min", 1, -kLargest);
  u.float_to_input("max", 2, kLargest);
}

}  // namespace

std::vector<OpDef> activation_ops() {
  return {
      {"", "Relu", "n", infer_same, eval_relu},
      {"", "LeakyRelu", "f", infer_float, eval_leaky_relu},
      {"", "PRelu", "nn", infer_prelu, eval_prelu},
      {"", "ThresholdedRelu", "f", infer_float, eval_thresholded_relu},
      {"", "Shrink", "n", infer_same, eval_shrink},
      {"", "Clip", "nNN", infer_clip, eval_clip, 1, {{11, limits_to_inputs}}},
      {"", "HardSigmoid", "f", infer_float, eval_hard_sigmoid},
      {"", "HardSwish", "f", infer_float, eval_hard_swish},
      {"", "Elu", "f", infer_float, eval_elu},
      {"", "Selu", "f", infer_float, eval_selu},
      {"", "Celu", "f", infer_float, eval_celu},
      {"", "Sigmoid", "f", infer_float, eval_sigmoid},
      {"", "Softplus", "f", infer_float, eval_softplus},
      {"", "Softsign", "f", infer_float, eval_softsign},
      {"", "Gelu", "f", infer_gelu, eval_gelu},
      {"", "Mish", "f", infer_float, eval_mish},
      {"com.microsoft", "Gelu", "f", infer_float, eval_gelu_erf},
      {"com.microsoft", "QuickGelu", "f", infer_float, eval_quick_gelu},
      {"com.microsoft", "BiasGelu", "ff", infer_bias_gelu, eval_bias_gelu},
      {"com.microsoft", "FastGelu", "fF", infer_bias_gelu, eval_fast_gelu},
  };
}

}  // namespace amdahl
