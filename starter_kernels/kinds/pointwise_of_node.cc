// Graph operators as scalar programs.

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "graph/graph.h"
#include "graph/ops/precision.h"
#include "graph/ops/reduction.h"
#include "starter_kernels/kinds/pointwise.h"

namespace amdahl {
namespace {

std::string lower_case(std::string s) {
  for (char& c : s) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return s;
}

bool is_product(const Node& node) { return node.op == "MatMul" || node.op == "Gemm"; }

// The inputs that take part in the computation, [first, end); the others only state a type, a mode, a seed or axes, or are the empty operands of a product.
std::pair<size_t, size_t> used_inputs(const Node& node) {
  if (is_product(node)) return {2, std::max<size_t>(2, node.inputs.size())};
  if (node.op == "CastLike" || node.op == "Dropout" || node.op.starts_with("Reduce")) return {0, 1};
  return {0, node.inputs.size()};
}

bool is_scalar_constant(const Graph& graph, ValueId v) { return graph.is_constant(v) && graph.value(v).constant->numel() == 1 && !graph.value(v).varies; }

class Builder {
 public:
  Builder(const Graph& graph, const Node& node) : graph_(graph), node_(node) {
    const auto [first, end] = used_inputs(node);
    number_.assign(end, -1);
    for (size_t i = first; i < end; ++i) {
      const ValueId v = node.inputs[i];
      if (v == kNoValue || is_scalar_constant(graph, v)) continue;
      number_[i] = program_.inputs++;
      program_.input_types.push_back(graph.value(v).dtype);
      inputs_.push_back(v);
    }
  }

  DType result_type() const { return graph_.value(node_.outputs[0]).dtype; }
  DType type(int value) const { return type_of_value(program_, value); }
  bool has(size_t i) const { return i < number_.size() && node_.inputs[i] != kNoValue; }

  int input(size_t i) {
    if (number_[i] >= 0) return number_[i];
    const Tensor& t = *graph_.value(node_.inputs[i]).constant;
    return is_float(t.dtype()) ? constant(t.dtype(), to_doubles(t)[0]) : constant_int(t.dtype(), to_ints(t)[0]);
  }
  // The value of input i when it is a scalar constant.
  std::optional<double> scalar(size_t i) const {
    if (!has(i) || number_[i] >= 0) return std::nullopt;
    return to_doubles(*graph_.value(node_.inputs[i]).constant)[0];
  }
  int op(std::string name, std::vector<int> args, DType type, double imm = 0, double imm2 = 0) {
    program_.ops.push_back({std::move(name), std::move(args), type, imm, imm2, 0});
    return program_.inputs + static_cast<int>(program_.ops.size()) - 1;
  }
  int constant(DType type, double value) { return op("const", {}, type, value); }
  int constant_int(DType type, int64_t value) {
    const int v = op("const", {}, type);
    program_.ops.back().imm_int = value;
    return v;
  }
  int cast(int value, DType to) { return type(value) == to ? value : op("cast", {value}, to); }

  PointwiseProgram finish(int result) {
    if (result < 0) return {};
    if (program_.ops.empty()) result = op("identity", {result}, result_type());
    program_.results = {result};
    return std::move(program_);
  }
  const std::vector<ValueId>& inputs() const { return inputs_; }
  const Node& node() const { return node_; }
  const Graph& graph() const { return graph_; }

 private:
  const Graph& graph_;
  const Node& node_;
  PointwiseProgram program_;
  std::vector<int> number_;  // of node input i, -1 for constants and absent ones
  std::vector<ValueId> inputs_;
};

// One program op of the same name, all inputs in order.
const std::set<std::string>& same_name() {
  static const std::set<std::string> ops{
      "neg",        "abs",      "sign",     "reciprocal",  "sqrt",    "floor",          "ceil",  "round", "exp",   "log",        "sin",       "cos",
      "tan",        "asin",     "acos",     "atan",        "sinh",    "cosh",           "asinh", "acosh", "atanh", "tanh",       "erf",       "sigmoid",
      "relu",       "softplus", "softsign", "hardswish",   "mish",    "isnan",          "not",   "add",   "sub",   "mul",        "div",       "prelu",
      "where",      "equal",    "less",     "lessorequal", "greater", "greaterorequal", "and",   "or",    "xor",   "bitwiseand", "bitwiseor", "bitwisexor",
      "bitwisenot", "identity"};
  return ops;
}

int power(Builder& b) {
  const int x = b.input(0);
  const DType type = b.result_type();
  if (const auto e = b.scalar(1); e && is_float(type)) {
    if (*e == 1) return b.op("identity", {x}, type);
    if (*e == 2) return b.op("mul", {x, x}, type);
    if (*e == 3) return b.op("mul", {b.op("mul", {x, x}, type), x}, type);
    if (*e == 0.5) return b.op("pow_half", {x}, type);
    if (*e == -1) return b.op("reciprocal", {x}, type);
  }
  const int y = b.input(1);
  const DType compute = is_float(type) ? type : is_float(b.type(y)) ? DType::kF64 : type;
  // An integer base with a float exponent is computed in double and truncated.
  if (compute != type) return b.cast(b.op("pow", {b.cast(x, compute), b.cast(y, compute)}, compute), type);
  return b.op("pow", {x, is_float(type) ? b.cast(y, type) : y}, type);
}

int clip(Builder& b) {
  const DType type = b.result_type();
  const Node& node = b.node();
  const auto bound = [&](size_t i, const char* attribute, bool low) {
    if (b.has(i)) return b.input(i);
    if (node.has(attribute)) return b.constant(type, node.attr_float(attribute, 0));
    if (is_float(type)) {  // before opset 11 the attributes' defaults
      const double largest = largest_of(node.version < 11 ? DType::kF32 : type);
      return b.constant(type, low ? -largest : largest);
    }
    const int bits = static_cast<int>(8 * size_of(type));
    const bool is_unsigned = type >= DType::kU8;
    if (low) return b.constant_int(type, is_unsigned ? 0 : -1 - static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1));
    return b.constant_int(type, static_cast<int64_t>(~uint64_t{0} >> (64 - bits + (is_unsigned ? 0 : 1))));
  };
  const int x = b.input(0), lo = bound(1, "min", true), hi = bound(2, "max", false);
  return b.op("clip", {x, lo, hi}, type);
}

int n_ary(Builder& b, const std::string& op) {
  int value = b.input(0);
  const DType type = b.result_type();
  for (size_t i = 1; i < b.node().inputs.size(); ++i) value = b.op(op, {value, b.input(i)}, type);
  return value;
}

// A reduction over no axes at all, where only what the operator does beside adding is left. -1 of any other.
int reduction_of_nothing(Builder& b) {
  if (!reduces_nothing(b.node(), axes_of_reduction(b.graph(), b.node()))) return -1;
  const int x = b.input(0);
  const DType type = b.result_type();
  const std::string& op = b.node().op;
  if (op == "ReduceL1" || op == "ReduceL2") return b.op("abs", {x}, type);
  if (op == "ReduceSumSquare") return b.op("mul", {x, x}, type);
  return b.op(op == "ReduceLogSum" ? "log" : "identity", {x}, type);
}

// A product over an inner dimension of 0 is zero, and of Gemm the third operand is left. -1 of any other.
int product_of_nothing(Builder& b) {
  const Node& node = b.node();
  const Shape& left = b.graph().value(node.inputs[0]).shape;
  if (left.empty() || left[node.attr_int("transA", 0) ? 0 : left.size() - 1] != 0) return -1;
  const DType type = b.result_type();
  if (!is_float(type)) return b.constant_int(type, 0);
  const double alpha = node.attr_float("alpha", 1), beta = node.attr_float("beta", 1);
  const int zero = b.constant(type, alpha * 0);  // NaN of an infinite one
  if (!b.has(2) || beta == 0) return zero;
  const int addend = beta == 1 ? b.input(2) : b.op("mul", {b.constant(type, beta), b.input(2)}, type);
  return b.op("add", {zero, addend}, type);
}

// saturate(round(x / scale) + zero point): halves go to the even neighbour.
int quantized(Builder& b) {
  const DType type = b.result_type(), f32 = DType::kF32;
  int x = b.op("round", {b.op("div", {b.input(0), b.input(1)}, f32)}, f32);
  if (b.has(2) && b.scalar(2) != 0.0) x = b.op("add", {x, b.cast(b.input(2), f32)}, f32);
  const bool is_unsigned = type == DType::kU8 || type == DType::kU16;
  const double places = std::ldexp(1.0, static_cast<int>(8 * size_of(type))), least = is_unsigned ? 0 : -places / 2;
  return b.cast(b.op("clip", {x, b.constant(f32, least), b.constant(f32, least + places - 1)}, f32), type);
}

int dequantized(Builder& b) {
  int x = b.cast(b.input(0), DType::kF32);
  if (b.has(2) && b.scalar(2) != 0.0) x = b.op("sub", {x, b.cast(b.input(2), DType::kF32)}, DType::kF32);
  return b.op("mul", {x, b.input(1)}, DType::kF32);
}

// -1 when the operator is not pointwise.
int build(Builder& b) {
  const Node& node = b.node();
  const DType type = b.result_type();
  const std::string name = lower_case(node.op);
  if (node.domain == "com.microsoft") {
    if (name == "gelu") return b.op("gelu", {b.input(0)}, type);
    if (name == "quickgelu") return b.op("swish", {b.input(0)}, type, node.attr_float("alpha", 1.702f));
    if (name == "biasgelu") return b.op("gelu", {b.op("add", {b.input(0), b.input(1)}, type)}, type);
    if (name == "fastgelu") {
      const int x = b.has(1) ? b.op("add", {b.input(0), b.input(1)}, type) : b.input(0);
      return b.op("gelu_tanh", {x}, type);
    }
    return -1;
  }
  if (!node.domain.empty() && node.domain != "ai.onnx") return -1;
  if (same_name().count(name)) {
    std::vector<int> args;
    for (size_t i = 0; i < node.inputs.size(); ++i) args.push_back(b.input(i));
    return b.op(name, std::move(args), type);
  }
  if (name.starts_with("reduce")) return reduction_of_nothing(b);
  if (is_product(node)) return product_of_nothing(b);
  if (name == "quantizelinear") return quantized(b);
  if (name == "dequantizelinear") return dequantized(b);
  if (name == "max" || name == "min") return n_ary(b, name);
  if (name == "sum") return n_ary(b, "add");
  if (name == "mean") return b.op("div", {n_ary(b, "add"), b.constant(type, static_cast<double>(node.inputs.size()))}, type);
  if (name == "pow") return power(b);
  if (name == "clip") return clip(b);
  if (name == "mod") return b.op(node.attr_int("fmod", 0) ? "fmod" : "mod", {b.input(0), b.input(1)}, type);
  if (name == "cast" || name == "castlike") return b.op("cast", {b.input(0)}, type);
  if (name == "dropout") return node.outputs.size() > 1 && node.outputs[1] != kNoValue ? -1 : b.input(0);
  if (name == "leakyrelu") return b.op(name, {b.input(0)}, type, node.attr_float("alpha", 0.01f));
  if (name == "elu" || name == "celu" || name == "thresholdedrelu") return b.op(name, {b.input(0)}, type, node.attr_float("alpha", 1.0));
  if (name == "swish") return b.op(name, {b.input(0)}, type, node.attr_float("alpha", 1.0));
  if (name == "selu")
    return b.op(name, {b.input(0)}, type, node.attr_float("alpha", 1.67326319217681884765625), node.attr_float("gamma", 1.05070102214813232421875));
  if (name == "hardsigmoid") return b.op(name, {b.input(0)}, type, node.attr_float("alpha", 0.2f), node.attr_float("beta", 0.5));
  if (name == "shrink") {  // of integers too, with float parameters
    const DType compute = is_float(type) ? type : DType::kF64;
    const int x = b.cast(b.input(0), compute);
    return b.cast(b.op(name, {x}, compute, node.attr_float("lambd", 0.5), node.attr_float("bias", 0.0)), type);
  }
  if (name == "gelu") return b.op(node.attr_string("approximate", "none") == "tanh" ? "gelu_tanh" : "gelu", {b.input(0)}, type);
  if (name == "isinf") {
    const bool positive = node.attr_int("detect_positive", 1) != 0, negative = node.attr_int("detect_negative", 1) != 0;
    if (!positive && !negative) return b.constant_int(DType::kBool, 0);
    return b.op(positive && negative ? "isinf" : positive ? "isinf_positive" : "isinf_negative", {b.input(0)}, type);
  }
  if (name == "bitshift") return b.op(node.attr_string("direction", "LEFT") == "LEFT" ? "bitshift_left" : "bitshift_right", {b.input(0), b.input(1)}, type);
  return -1;
}

}  // namespace

PointwiseProgram program_of(const Graph& graph, const Node& node) {
  Builder b(graph, node);
  return b.finish(build(b));
}

std::vector<int32_t> program_inputs(const Graph& graph, const Node& node) {
  Builder b(graph, node);
  return build(b) < 0 ? std::vector<int32_t>{} : b.inputs();
}

}  // namespace amdahl
