// Numbers in 8 or 16 bits that stand for floats: x = (q - zero_point) * scale. QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear, and products
// and convolutions of such numbers.
//
// All are made of other operators: products and convolutions of bytes of MatMulInteger and ConvInteger without zero points (integer_products.h), what cannot be is
// computed on floats.

#include "graph/onnx_types.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/families.h"
#include "graph/ops/integer_products.h"
#include "graph/ops/moved_bytes.h"
#include "graph/ops/quantized.h"

namespace amdahl {
namespace {

// ---- one scale and one zero point -----------------------------------------------------------------------------------

// What both operators are as nodes of a Graph; other forms are written in this one, or in simpler operators.
void check_one_scaling(const InferContext& c) {
  const bool zero_fits = !c.has_input(2) || (c.shape(2).empty() && is_quantized_type(c.dtype(2)));
  if (c.dtype(1) != DType::kF32 || !c.shape(1).empty() || !zero_fits) throw Refusal("only one scale in fp32, and one zero point of 8 or 16 bits");
}

void infer_quantize(InferContext& c) {
  check_one_scaling(c);
  if (c.dtype(0) != DType::kF32) throw Refusal("only of fp32");
  c.set_output(0, c.has_input(2) ? c.dtype(2) : DType::kU8, c.shape(0));
}

void infer_dequantize(InferContext& c) {
  check_one_scaling(c);
  if (!is_quantized_type(c.dtype(0)) || (c.has_input(2) && c.dtype(2) != c.dtype(0))) throw Refusal("only of 8 or 16 bits");
  c.set_output(0, DType::kF32, c.shape(0));
}

// The value of an operator that this one is made of.
RefTensor apply(const EvalContext& c, const char* op, const std::vector<const RefTensor*>& inputs, DType type,
                const std::map<std::string, Attribute>& attributes = {}) {
  Node node;
  node.op = op;
  node.version = Expansion::kVersion;
  node.attributes = attributes;
  node.outputs = {0};
  EvalContext context{node, c.bounds, inputs, std::vector<RefTensor>(1), c.products};
  context.outputs[0].dtype = type;
  context.outputs[0].shape = inputs[0]->shape;
  context.outputs[0].is_inside = true;
  find_op("", op)->eval(context);
  return std::move(context.outputs[0]);
}

RefTensor as_type(const EvalContext& c, const RefTensor& x, DType type) { return apply(c, "Cast", {&x}, type, {{"to", int64_t{onnx_of_dtype(type)}}}); }

RefTensor number(double value) {
  RefTensor t;
  t.value = {value};
  return t;
}

void eval_quantize(EvalContext& c) {
  const DType type = c.out(0).dtype;
  RefTensor x = apply(c, "Div", {&c.in(0), &c.in(1)}, DType::kF32);
  // A kernel may multiply by the reciprocal of the scale, which is rounded too.
  for (size_t i = 0; i < x.bound.size(); ++i)
    if (std::isfinite(x.value[i])) x.bound[i] += kU32 * std::fabs(x.value[i]);
  x = apply(c, "Round", {&x}, DType::kF32);
  if (c.has_input(2)) {
    const RefTensor zero = as_type(c, c.in(2), DType::kF32);
    x = apply(c, "Add", {&x, &zero}, DType::kF32);
  }
  const auto [least, greatest] = range_of_quantized(type);
  const RefTensor low = number(least), high = number(greatest);
  x = apply(c, "Clip", {&x, &low, &high}, DType::kF32);
  RefTensor y = as_type(c, x, type);
  y.is_inside = c.out(0).is_inside;
  c.out(0) = std::move(y);
}

void eval_dequantize(EvalContext& c) {
  RefTensor x = as_type(c, c.in(0), DType::kF32);
  if (c.has_input(2)) {
    const RefTensor zero = as_type(c, c.in(2), DType::kF32);
    x = apply(c, "Sub", {&x, &zero}, DType::kF32);
  }
  x = apply(c, "Mul", {&x, &c.in(1)}, DType::kF32);
  x.is_inside = c.out(0).is_inside;
  c.out(0) = std::move(x);
}

// ---- other forms -----------------------------------------------------------------------------------------------------

// Weights, whose scales fit: what is small may as well be folded at once.
bool is_constant_in_bytes(const Expansion& e, const QuantizedForm& form) {
  constexpr int64_t kSmall = 64;
  const Shape shape = e.shape(form.integers);
  if (!e.constant_of(form.integers) || numel(shape) < kSmall || !is_byte(e.dtype(form.integers))) return false;
  const auto rank = static_cast<int64_t>(shape.size()), axis = form.axis < 0 ? form.axis + rank : form.axis;
  const auto lies_along = [&](ValueId v) { return axis >= 0 && axis < rank && e.shape(v) == Shape{shape[static_cast<size_t>(axis)]}; };
  const auto fits = [&](ValueId v) { return v == kNoValue || (e.constant_of(v) && (numel(e.shape(v)) == 1 || lies_along(v))); };
  return fits(form.scale) && fits(form.zero_point);
}

// A zero point that is there and 0 is left out, where the type does not need it.
bool has_known_zero(const Expansion& e, const Scaling& s) {
  return s.zero_point != kNoValue && e.dtype(s.zero_point) == DType::kU8 && is_zero(e, s.zero_point);
}

void expand_dequantize(Expansion& e) {
  const Scaling s = scaling_in(e, 1, 2);
  const DType given = e.node.has("output_dtype") ? dtype_from_onnx(e.node.attr_int("output_dtype", 1)) : e.dtype(s.scale);
  const int64_t axis = e.node.attr_int("axis", 1), block = e.node.attr_int("block_size", 0);
  const QuantizedForm form{e.in(0), s.scale, s.zero_point, axis};
  if (block == 0 && given == DType::kF32 && is_constant_in_bytes(e, form)) return e.set_output(0, e.promise_floats(form));
  if (e.node.domain.empty() && is_one_scaling(e, s) && given == DType::kF32 && is_quantized_type(e.dtype(e.in(0))) && e.shape(s.scale).empty() &&
      !e.node.has("block_size") && !has_known_zero(e, s))
    return;
  const ValueId y = e.cast(dequantized(e, e.in(0), s, axis, block), given);
  if (block == 0 && given == DType::kF32) e.set_quantized_form(y, form);
  e.set_output(0, y);
}

DType asked_type(const Expansion& e, ValueId zero_point) {
  const int64_t number = e.node.attr_int("output_dtype", 0);
  return number == 0 ? type_of_zero(e, zero_point) : dtype_from_onnx(number);
}

void expand_quantize(Expansion& e) {
  const Scaling s = scaling_in(e, 1, 2);
  const bool whole = !e.node.has("output_dtype") && e.node.attr_int("block_size", 0) == 0;
  if (const ValueId q = whole ? bytes_quantized_again(e, e.in(0), s.scale, s.zero_point) : kNoValue; q != kNoValue) return e.set_output(0, q);
  const bool plain = e.node.domain.empty() && e.dtype(e.in(0)) == DType::kF32 && !e.node.has("output_dtype") && !e.node.has("block_size");
  if (plain && is_one_scaling(e, s) && e.shape(s.scale).empty() && is_quantized_type(type_of_zero(e, s.zero_point)) && !has_known_zero(e, s)) return;
  e.set_output(0, quantized(e, e.in(0), s, asked_type(e, s.zero_point), e.node.attr_int("axis", 1), e.node.attr_int("block_size", 0)));
}

void expand_dynamic_quantize(Expansion& e) {
  const DynamicallyQuantized d = dynamically_quantized(e, e.in(0));
  e.set_output(0, d.y);
  e.set_output(1, d.scaling.scale);
  e.set_output(2, d.scaling.zero_point);
}

// x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, bias
void expand_qlinear_conv(Expansion& e) {
  const Scaling xs = scaling_in(e, 1, 2), ws = scaling_in(e, 4, 5), ys = scaling_in(e, 6, 7);
  ValueId bias = kNoValue;
  if (e.has_input(8)) bias = dequantized(e, e.in(8), {e.add("Mul", {e.reshape(xs.scale, {}), ws.scale})}, 0);
  ValueId y = convolution_of_quantized(e, {e.in(0), xs.scale, xs.zero_point, 1}, {e.in(3), ws.scale, ws.zero_point, 0}, bias);
  if (y == kNoValue) {
    std::vector<ValueId> inputs{dequantized(e, e.in(0), xs), dequantized(e, e.in(3), ws, 0)};
    if (bias != kNoValue) inputs.push_back(bias);
    y = e.add("Conv", inputs, window_attributes(e.node));
  }
  e.set_output(0, quantized(e, y, ys, type_of_zero(e, ys.zero_point)));
}

// a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point
void expand_qlinear_matmul(Expansion& e) {
  const Scaling as = scaling_in(e, 1, 2), bs = scaling_in(e, 4, 5), ys = scaling_in(e, 6, 7);
  ValueId y = product_of_quantized(e, {e.in(0), as.scale, as.zero_point, -2}, {e.in(3), bs.scale, bs.zero_point, -1}, kNoValue);
  if (y == kNoValue) y = e.add("MatMul", {dequantized_matrix(e, e.in(0), as, true), dequantized_matrix(e, e.in(3), bs, false)});
  e.set_output(0, quantized(e, y, ys, type_of_zero(e, ys.zero_point), e.rank(y) - 2));
}

}  // namespace

std::vector<OpDef> quantization_ops() {
  return {
      {"", "QuantizeLinear", "nfI", infer_quantize, eval_quantize, 1, {}, expand_quantize},
      {"", "DequantizeLinear", "ifI", infer_dequantize, eval_dequantize, 1, {}, expand_dequantize},
      made_of_others("com.microsoft", "QuantizeLinear", "nfI", expand_quantize),
      made_of_others("com.microsoft", "DequantizeLinear", "ifI", expand_dequantize),
      made_of_others("", "DynamicQuantizeLinear", "f", expand_dynamic_quantize, 3),
      made_of_others("", "QLinearConv", "ifiififiI", expand_qlinear_conv),
      made_of_others("", "QLinearMatMul", "ifiififi", expand_qlinear_matmul),
  };
}

}  // namespace amdahl
