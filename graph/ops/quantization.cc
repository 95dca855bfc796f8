// Numbers in 8 or 16 bits that stand for floats: x = (q - zero_point) * scale. QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear, and products
// and convolutions of such numbers.
//
// All are made of other operators. What adds up integers stays exact: products in int32, and convolutions in float64, which holds each sum of products of two
// bytes up to 2^53. What the standard defines on floats (QLinearConv and its siblings) is computed on floats.

#include "graph/ops/elementwise.h"
#include "graph/ops/families.h"
#include "graph/ops/quantized.h"

namespace amdahl {
namespace {

void expand_dequantize(Expansion& e) {
  const Scaling s = scaling_in(e, 1, 2);
  const DType given = e.node.has("output_dtype") ? dtype_from_onnx(e.node.attr_int("output_dtype", 1)) : e.dtype(s.scale);
  e.set_output(0, e.cast(dequantized(e, e.in(0), s, e.node.attr_int("axis", 1), e.node.attr_int("block_size", 0)), given));
}

DType asked_type(const Expansion& e, ValueId zero_point) {
  const int64_t number = e.node.attr_int("output_dtype", 0);
  return number == 0 ? type_of_zero(e, zero_point) : dtype_from_onnx(number);
}

void expand_quantize(Expansion& e) {
  const Scaling s = scaling_in(e, 1, 2);
  e.set_output(0, quantized(e, e.in(0), s, asked_type(e, s.zero_point), e.node.attr_int("axis", 1), e.node.attr_int("block_size", 0)));
}

void expand_dynamic_quantize(Expansion& e) {
  const DynamicallyQuantized d = dynamically_quantized(e, e.in(0));
  e.set_output(0, d.y);
  e.set_output(1, d.scaling.scale);
  e.set_output(2, d.scaling.zero_point);
}

void expand_matmul_integer(Expansion& e) { e.set_output(0, integer_product(e, e.in(0), e.in(1), optional_in(e, 2), optional_in(e, 3))); }

void expand_conv_integer(Expansion& e) {
  ValueId filters = e.cast(e.in(1), DType::kI32);
  if (const ValueId zero = optional_in(e, 3); !is_zero(e, zero)) filters = e.add("Sub", {filters, e.cast(over(e, zero, filters, 0, 0), DType::kI32)});
  const ValueId sum =
      e.add("Conv", {e.cast(centred(e, e.in(0), optional_in(e, 2), false), DType::kF64), e.cast(filters, DType::kF64)}, window_attributes(e.node));
  e.set_output(0, e.cast(sum, DType::kI32));
}

// x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, bias
void expand_qlinear_conv(Expansion& e) {
  const Scaling xs = scaling_in(e, 1, 2), ws = scaling_in(e, 4, 5), ys = scaling_in(e, 6, 7);
  std::vector<ValueId> inputs{dequantized(e, e.in(0), xs), dequantized(e, e.in(3), ws, 0)};
  if (e.has_input(8)) inputs.push_back(dequantized(e, e.in(8), {e.add("Mul", {e.reshape(xs.scale, {}), ws.scale})}, 0));
  e.set_output(0, quantized(e, e.add("Conv", inputs, window_attributes(e.node)), ys, type_of_zero(e, ys.zero_point)));
}

// a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point
void expand_qlinear_matmul(Expansion& e) {
  const ValueId a = dequantized_matrix(e, e.in(0), scaling_in(e, 1, 2), true), b = dequantized_matrix(e, e.in(3), scaling_in(e, 4, 5), false);
  const Scaling ys = scaling_in(e, 6, 7);
  const ValueId y = e.add("MatMul", {a, b});
  e.set_output(0, quantized(e, y, ys, type_of_zero(e, ys.zero_point), e.rank(y) - 2));
}

}  // namespace

std::vector<OpDef> quantization_ops() {
  return {
      made_of_others("", "QuantizeLinear", "nfI", expand_quantize),
      made_of_others("", "DequantizeLinear", "ifI", expand_dequantize),
      made_of_others("com.microsoft", "QuantizeLinear", "nfI", expand_quantize),
      made_of_others("com.microsoft", "DequantizeLinear", "ifI", expand_dequantize),
      made_of_others("", "DynamicQuantizeLinear", "f", expand_dynamic_quantize, 3),
      made_of_others("", "MatMulInteger", "iiII", expand_matmul_integer),
      made_of_others("", "ConvInteger", "iiII", expand_conv_integer),
      made_of_others("", "QLinearConv", "ifiififiI", expand_qlinear_conv),
      made_of_others("", "QLinearMatMul", "ifiififi", expand_qlinear_matmul),
  };
}

}  // namespace amdahl
