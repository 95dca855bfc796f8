// Shape, Size, Constant, ConstantOfShape, Range: values known from shapes and constants alone.

#include <fmt/format.h>

#include "graph/ops/elementwise.h"
#include "graph/ops/families.h"

namespace amdahl {
namespace {

// start and end (opset 15) as slices: negative ones count from the end, both are clamped.
Shape visible(const Node& node, const Shape& shape) {
  const auto rank = static_cast<int64_t>(shape.size());
  int64_t start = node.attr_int("start", 0), end = node.attr_int("end", rank);
  start = std::clamp<int64_t>(start < 0 ? start + rank : start, 0, rank);
  end = std::clamp<int64_t>(end < 0 ? end + rank : end, start, std::max(start, rank));
  return Shape(shape.begin() + start, shape.begin() + end);
}

void infer_shape(InferContext& c) { c.set_output(0, DType::kI64, {static_cast<int64_t>(visible(c.node, c.shape(0)).size())}); }
void eval_shape(EvalContext& c) { c.out(0).ints = visible(c.node, c.in(0).shape); }

void infer_size(InferContext& c) {
  c.input(0);
  c.set_output(0, DType::kI64, {});
}
void eval_size(EvalContext& c) { c.out(0).ints = {c.in(0).numel()}; }

// ---- Constant: one of several attributes.

Tensor constant_of(const Node& node) {
  const auto get = [&](const char* name) -> const Attribute* {
    const auto it = node.attributes.find(name);
    return it == node.attributes.end() ? nullptr : &it->second;
  };
  const auto floats = [](Shape shape, const std::vector<double>& v) { return from_doubles(DType::kF32, std::move(shape), v); };
  const auto ints = [](Shape shape, const std::vector<int64_t>& v) { return from_ints(DType::kI64, std::move(shape), v); };
  const auto length = [](const auto& v) { return Shape{static_cast<int64_t>(v.size())}; };
  if (const Attribute* a = get("value")) return std::get<Tensor>(*a);
  if (const Attribute* a = get("value_float")) return floats({}, {std::get<double>(*a)});
  if (const Attribute* a = get("value_int")) return ints({}, {std::get<int64_t>(*a)});
  if (const Attribute* a = get("value_floats")) {
    const auto& v = std::get<std::vector<double>>(*a);
    return floats(length(v), v);
  }
  if (const Attribute* a = get("value_ints")) {
    const auto& v = std::get<std::vector<int64_t>>(*a);
    return ints(length(v), v);
  }
  throw Refusal("only dense numeric constants are supported");
}

void infer_constant(InferContext& c) {
  const Tensor t = constant_of(c.node);
  c.set_output(0, t.dtype(), t.shape());
}
void eval_constant(EvalContext& c) { c.out(0) = RefTensor::of(constant_of(c.node)); }

// ---- ConstantOfShape: a one-element tensor, f32 zero without it.

Tensor fill_of(const Node& node) {
  const auto it = node.attributes.find("value");
  if (it == node.attributes.end()) return Tensor::of<float>(DType::kF32, {1}, {0.0f});
  const Tensor& t = std::get<Tensor>(it->second);
  if (t.numel() != 1) throw Refusal("the value must be one element");
  return t;
}

void infer_constant_of_shape(InferContext& c) {
  const Shape shape = c.constant_ints(0, "the shape");
  for (int64_t d : shape)
    if (d < 0) throw Refusal(fmt::format("shape {} is not valid", to_string(shape)));
  c.set_output(0, fill_of(c.node).dtype(), shape);
}

void eval_constant_of_shape(EvalContext& c) {
  const RefTensor fill = RefTensor::of(fill_of(c.node));
  const auto n = static_cast<size_t>(c.out(0).numel());
  if (fill.is_float()) c.out(0).value.assign(n, fill.value[0]);
  else c.out(0).ints.assign(n, fill.ints[0]);
}

// ---- Range: start + i * delta.

void infer_range(InferContext& c) {
  double v[3];
  for (size_t i = 0; i < 3; ++i) {
    if (numel(c.shape(i)) != 1 || c.dtype(i) != c.dtype(0)) throw Refusal("start, limit and delta must be scalars of one type");
    v[i] = to_doubles(c.constant(i, i == 0 ? "start" : i == 1 ? "limit" : "delta"))[0];
  }
  if (v[2] == 0) throw Refusal("delta is 0");
  const double count = std::ceil((v[1] - v[0]) / v[2]);
  if (!(count < 0x1p40)) throw Refusal("the range is too large or not finite");
  c.set_output(0, c.dtype(0), {static_cast<int64_t>(std::fmax(0.0, count))});
}

// Floats: an honest form multiplies, or adds step by step as the function body of ONNX does.
void eval_range(EvalContext& c) {
  RefTensor& out = c.out(0);
  const int64_t n = out.numel();
  if (!out.is_float()) {
    for (int64_t i = 0; i < n; ++i)
      out.ints.push_back(
          wrap(out.dtype, static_cast<int64_t>(static_cast<uint64_t>(c.in(0).ints[0]) + static_cast<uint64_t>(i) * static_cast<uint64_t>(c.in(2).ints[0]))));
    return;
  }
  const double start = c.in(0).value[0], delta = c.in(2).value[0];
  const double e_start = c.in(0).bound_at(0), e_delta = c.in(2).bound_at(0);
  const Precision p = precision_of(out.dtype);
  for (int64_t i = 0; i < n; ++i) {
    const auto k = static_cast<double>(i);
    out.value.push_back(start + k * delta);
    if (!c.bounds) continue;
    const double largest = std::fmax(std::fabs(start), std::fabs(out.value.back()));
    out.bound.push_back(e_start + k * e_delta + p.u * (k + 1) * largest + p.store * std::fabs(out.value.back()));
  }
}

}  // namespace

std::vector<OpDef> shape_ops() {
  return {
      // clang-format off
      {"", "Shape", "a", infer_shape, eval_shape},
      {"", "Size", "a", infer_size, eval_size},
      {"", "Constant", "", infer_constant, eval_constant},
      {"", "ConstantOfShape", "i", infer_constant_of_shape, eval_constant_of_shape},
      {"", "Range", "nnn", infer_range, eval_range},
      // clang-format on
  };
}

}  // namespace amdahl
