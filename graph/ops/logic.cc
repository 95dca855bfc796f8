// Comparisons, boolean and bitwise operators, IsNaN, IsInf, Where, and the copies Identity and Dropout.

#include <fmt/format.h>

#include "graph/node_upgrade.h"
#include "graph/ops/elementwise.h"

namespace amdahl {
namespace {

// A comparison of floats closer than their bounds may go either way: bound 1.
template <typename F>
void compare(EvalContext& c, F f) {
  const RefTensor &a = c.in(0), &b = c.in(1);
  RefTensor& out = c.out(0);
  if (!a.is_float()) {
    int_binary(a, b, out, [=](auto x, auto y) { return int64_t{f(x, y)}; });
    return;
  }
  out.ints.resize(static_cast<size_t>(out.numel()));
  broadcast_loop(out.shape, a.shape, a.value.data(), b.shape, b.value.data(), out.ints.data(), [=](double x, double y) { return int64_t{f(x, y)}; });
  if (!c.bounds || (a.bound.empty() && b.bound.empty())) return;
  RefTensor gap{DType::kF64, out.shape, {}, {}, {}};
  gap.value.resize(out.ints.size());
  broadcast_loop(out.shape, a.shape, a.value.data(), b.shape, b.value.data(), gap.value.data(),
                 [](double x, double y) { return x == y ? 0 : std::fabs(x - y); });
  std::vector<double> zero_a, zero_b;
  out.bound.resize(out.ints.size());
  broadcast_loop(out.shape, a.shape, bounds_of(a, zero_a), b.shape, bounds_of(b, zero_b), out.bound.data(), [](double ea, double eb) { return ea + eb; });
  for (size_t i = 0; i < out.bound.size(); ++i) out.bound[i] = out.bound[i] > 0 && gap.value[i] <= out.bound[i] ? 1.0 : 0.0;
}

void eval_equal(EvalContext& c) {
  compare(c, [](auto a, auto b) { return a == b; });
}
void eval_less(EvalContext& c) {
  compare(c, [](auto a, auto b) { return a < b; });
}
void eval_less_or_equal(EvalContext& c) {
  compare(c, [](auto a, auto b) { return a <= b; });
}
void eval_greater(EvalContext& c) {
  compare(c, [](auto a, auto b) { return a > b; });
}
void eval_greater_or_equal(EvalContext& c) {
  compare(c, [](auto a, auto b) { return a >= b; });
}

// And, Or, Xor on bool are the bitwise ones on 0 and 1.
void infer_bits(InferContext& c) {
  if (is_float(c.dtype(0))) throw Refusal("bits of floats are not defined");
  infer_broadcast(c);
}
void eval_and(EvalContext& c) {
  int_binary(c.in(0), c.in(1), c.out(0), [](auto a, auto b) { return a & b; });
}
void eval_or(EvalContext& c) {
  int_binary(c.in(0), c.in(1), c.out(0), [](auto a, auto b) { return a | b; });
}
void eval_xor(EvalContext& c) {
  int_binary(c.in(0), c.in(1), c.out(0), [](auto a, auto b) { return a ^ b; });
}

void eval_not(EvalContext& c) {
  c.out(0).bound = c.in(0).bound;
  for (int64_t v : c.in(0).ints) c.out(0).ints.push_back(v == 0);
}
void eval_bitwise_not(EvalContext& c) {
  c.out(0).bound = c.in(0).bound;
  for (int64_t v : c.in(0).ints) c.out(0).ints.push_back(wrap(c.out(0).dtype, ~v));
}

void infer_bit_shift(InferContext& c) {
  const std::string direction = c.node.attr_string("direction", "");
  const DType d = c.dtype(0);
  if (direction != "LEFT" && direction != "RIGHT") throw Refusal("direction must be LEFT or RIGHT");
  if (d != DType::kU8 && d != DType::kU16 && d != DType::kU32 && d != DType::kU64) throw Refusal("only unsigned integers shift");
  infer_bits(c);
}

void eval_bit_shift(EvalContext& c) {
  const bool left = c.node.attr_string("direction", "") == "LEFT";
  int_binary(c.in(0), c.in(1), c.out(0), [=](auto a, auto b) -> uint64_t {
    const auto bits = static_cast<uint64_t>(a), by = static_cast<uint64_t>(b);
    if (by >= 64) return 0;
    return left ? bits << by : bits >> by;
  });
}

void infer_is(InferContext& c) {
  if (!is_float(c.dtype(0))) throw Refusal("input must be a float");
  c.set_output(0, DType::kBool, c.shape(0));
}

// Uncertain only where the input is unbounded: it may overflow or not.
template <typename F>
void eval_is(EvalContext& c, F f) {
  const RefTensor& in = c.in(0);
  for (double v : in.value) c.out(0).ints.push_back(f(v));
  if (c.bounds)
    for (double e : in.bound) c.out(0).bound.push_back(std::isinf(e) ? 1.0 : 0.0);
}

void eval_is_nan(EvalContext& c) {
  eval_is(c, [](double v) { return std::isnan(v); });
}
void eval_is_inf(EvalContext& c) {
  const bool negative = c.node.attr_int("detect_negative", 1), positive = c.node.attr_int("detect_positive", 1);
  eval_is(c, [=](double v) { return std::isinf(v) && (v > 0 ? positive : negative); });
}

void infer_where(InferContext& c) {
  if (c.dtype(0) != DType::kBool) throw Refusal("the condition must be bool");
  if (c.dtype(1) != c.dtype(2)) throw Refusal(fmt::format("branches of types {} and {} do not mix", name_of(c.dtype(1)), name_of(c.dtype(2))));
  c.set_output(0, c.dtype(1), broadcast(broadcast(c.shape(0), c.shape(1)), c.shape(2)));
}

// out[i] = which[i] ? a[i] : b[i] over the broadcast of the three.
template <typename T>
void select(const RefTensor& which, const RefTensor& a, const T* pa, const RefTensor& b, const T* pb, const Shape& shape, std::vector<T>& out) {
  out.resize(static_cast<size_t>(numel(shape)));
  const RowWalk<3> walk(shape, {&which.shape, &a.shape, &b.shape});
  const int64_t sw = walk.strides[0].back(), sa = walk.strides[1].back(), sb = walk.strides[2].back();
  walk.each([&](int64_t o, const std::array<int64_t, 3>& at, int64_t n) {
    const int64_t* w = which.ints.data() + at[0];
    for (int64_t j = 0; j < n; ++j) out[static_cast<size_t>(o + j)] = w[j * sw] ? pa[at[1] + j * sa] : pb[at[2] + j * sb];
  });
}

void eval_where(EvalContext& c) {
  const RefTensor &which = c.in(0), &a = c.in(1), &b = c.in(2);
  RefTensor& out = c.out(0);
  if (out.is_float()) select(which, a, a.value.data(), b, b.value.data(), out.shape, out.value);
  else select(which, a, a.ints.data(), b, b.ints.data(), out.shape, out.ints);
  if (!c.bounds || (which.bound.empty() && a.bound.empty() && b.bound.empty())) return;
  std::vector<double> zero_a, zero_b;
  select(which, a, bounds_of(a, zero_a), b, bounds_of(b, zero_b), out.shape, out.bound);
  if (which.bound.empty()) return;
  // Where the condition is uncertain, the other branch is as good: far enough to cover it and its own bound.
  RefTensor other{DType::kBool, which.shape, {}, {}, which.ints};
  for (int64_t& w : other.ints) w = !w;
  std::vector<double> other_bound, uncertain(out.bound.size());
  select(other, a, bounds_of(a, zero_a), b, bounds_of(b, zero_b), out.shape, other_bound);
  const RefTensor scalar{DType::kF64, {}, {0.0}, {}, {}};
  broadcast_loop(out.shape, which.shape, which.bound.data(), scalar.shape, scalar.value.data(), uncertain.data(), [](double e, double) { return e; });
  const auto widen = [&](const auto& kept, const auto& dropped) {
    for (size_t i = 0; i < uncertain.size(); ++i)
      if (uncertain[i] > 0) out.bound[i] = std::fmax(out.bound[i], spread(static_cast<double>(kept[i]), static_cast<double>(dropped[i])) + other_bound[i]);
  };
  if (out.is_float()) {
    std::vector<double> dropped;
    select(other, a, a.value.data(), b, b.value.data(), out.shape, dropped);
    widen(out.value, dropped);
  } else {
    std::vector<int64_t> dropped;
    select(other, a, a.ints.data(), b, b.ints.data(), out.shape, dropped);
    widen(out.ints, dropped);
  }
}

void eval_identity(EvalContext& c) { c.out(0) = c.in(0); }

bool is_zero(const InferContext& c, size_t input, const char* what) {
  const Tensor& scalar = c.constant(input, what);
  if (scalar.numel() != 1) throw Refusal(fmt::format("{} must be one number", what));
  return is_float(scalar.dtype()) ? to_doubles(scalar)[0] == 0 : to_ints(scalar)[0] == 0;
}

// Inference only. The mask of a dropout that drops nothing is all true.
void infer_dropout(InferContext& c) {
  if (c.node.version >= 12 && c.has_input(2) && !is_zero(c, 2, "training_mode"))
    if (!c.has_input(1) || !is_zero(c, 1, "ratio")) throw Refusal("training mode is not supported");
  infer_float(c);
  c.set_output(1, c.node.version >= 10 ? DType::kBool : c.dtype(0), c.shape(0));
}

void eval_dropout(EvalContext& c) {
  c.out(0) = c.in(0);
  if (c.outputs.size() < 2) return;
  const size_t n = c.in(0).value.size();
  if (c.out(1).is_float()) c.out(1).value.assign(n, 1.0);
  else c.out(1).ints.assign(n, 1);
}

// Only inference is in a Graph: the ratio does nothing.
void drop_ratio(NodeUpgrade& u) { u.node.attributes.erase("ratio"); }

}  // namespace

std::vector<OpDef> logic_ops() {
  return {
      {"", "Equal", "aa", infer_compare, eval_equal},
      {"", "Less", "nn", infer_compare, eval_less},
      {"", "LessOrEqual", "nn", infer_compare, eval_less_or_equal},
      {"", "Greater", "nn", infer_compare, eval_greater},
      {"", "GreaterOrEqual", "nn", infer_compare, eval_greater_or_equal},
      {"", "And", "bb", infer_bits, eval_and},
      {"", "Or", "bb", infer_bits, eval_or},
      {"", "Xor", "bb", infer_bits, eval_xor},
      {"", "Not", "b", infer_same, eval_not},
      {"", "BitwiseAnd", "ii", infer_bits, eval_and},
      {"", "BitwiseOr", "ii", infer_bits, eval_or},
      {"", "BitwiseXor", "ii", infer_bits, eval_xor},
      {"", "BitwiseNot", "i", infer_same, eval_bitwise_not},
      {"", "BitShift", "ii", infer_bit_shift, eval_bit_shift},
      {"", "IsNaN", "f", infer_is, eval_is_nan},
      {"", "IsInf", "f", infer_is, eval_is_inf},
      {"", "Where", "baa", infer_where, eval_where},
      {"", "Identity", "a", infer_same, eval_identity},
      {"", "Dropout", "aFB", infer_dropout, eval_dropout, 2, {{12, drop_ratio}}},
  };
}

}  // namespace amdahl
