// Operators of ONNX Runtime's own on quantized numbers, as its quantizer writes them.
//
// What is said of floats (QLinearAdd and its siblings) is computed on floats between a dequantization and a quantization. What quantizes its input as it comes
// (DynamicQuantizeMatMul) does so here too, and adds up integers exactly. DynamicQuantizeLSTM is the exception: it is an LSTM with its weights made floats, which
// is closer to the model that was quantized than its own rounding of every step's state.

#include <fmt/format.h>

#include "graph/ops/families.h"
#include "graph/ops/quantized.h"

namespace amdahl {
namespace {

// A quantized operand that stands at input i, before its scale and zero point.
ValueId operand(Expansion& e, size_t i) { return dequantized(e, e.in(i), scaling_in(e, i + 1, i + 2)); }

void finish(Expansion& e, ValueId y, size_t scale) {
  const Scaling s = scaling_in(e, scale, scale + 1);
  e.set_output(0, quantized(e, y, s, s.zero_point == kNoValue ? e.dtype(e.in(0)) : e.dtype(s.zero_point)));
}

// A, A_scale, A_zero_point, B, B_scale, B_zero_point, C_scale, C_zero_point
void expand_add(Expansion& e) { finish(e, e.add("Add", {operand(e, 0), operand(e, 3)}), 6); }
void expand_mul(Expansion& e) { finish(e, e.add("Mul", {operand(e, 0), operand(e, 3)}), 6); }

void expand_sigmoid(Expansion& e) { finish(e, e.add("Sigmoid", {operand(e, 0)}), 3); }

void expand_leaky_relu(Expansion& e) { finish(e, e.add("LeakyRelu", {operand(e, 0)}, {{"alpha", e.node.attr_float("alpha", 0.01)}}), 3); }

void expand_softmax(Expansion& e) {
  const int64_t axis = e.node.attr_int("axis", -1);
  if (e.node.attr_int("opset", 13) < 13 && e.axis_of(axis, e.shape(e.in(0)).size(), "axis") + 1 != e.shape(e.in(0)).size())
    throw Refusal("the form of before opset 13, over more than the last axis, is not supported");
  finish(e, e.add("Softmax", {operand(e, 0)}, {{"axis", axis}}), 3);
}

std::vector<int64_t> channels_first(const Expansion& e, ValueId x) {
  std::vector<int64_t> perm{0, e.rank(x) - 1};
  for (int64_t d = 1; d + 1 < e.rank(x); ++d) perm.push_back(d);
  return perm;
}

std::vector<int64_t> channels_last(const Expansion& e, ValueId x) {
  std::vector<int64_t> perm{0};
  for (int64_t d = 2; d < e.rank(x); ++d) perm.push_back(d);
  perm.push_back(1);
  return perm;
}

void pool(Expansion& e, const std::string& op, const std::map<std::string, Attribute>& attributes) {
  const bool last = e.node.attr_int("channels_last", 0) != 0;
  ValueId x = operand(e, 0);
  if (last) x = e.transpose(x, channels_first(e, x));
  ValueId y = e.add(op, {x}, attributes);
  if (last) y = e.transpose(y, channels_last(e, y));
  finish(e, y, 3);
}

void expand_average_pool(Expansion& e) {
  std::map<std::string, Attribute> attributes = window_attributes(e.node);
  for (const char* name : {"ceil_mode", "count_include_pad"})
    if (e.node.has(name)) attributes[name] = e.node.attr_int(name, 0);
  pool(e, "AveragePool", attributes);
}

void expand_global_average_pool(Expansion& e) { pool(e, "GlobalAveragePool", {}); }

// Y_scale, Y_zero_point, then x, scale, zero_point of each
void expand_concat(Expansion& e) {
  std::vector<ValueId> parts;
  for (size_t i = 2; i + 1 < e.node.inputs.size(); i += 3) parts.push_back(operand(e, i));
  if (parts.empty()) throw Refusal("it has nothing to join");
  const Scaling s = scaling_in(e, 0, 1);
  const ValueId joined = parts.size() == 1 ? parts[0] : e.add("Concat", parts, {{"axis", e.node.attr_int("axis", 0)}});
  e.set_output(0, quantized(e, joined, s, type_of_zero(e, s.zero_point)));
}

// A, a_scale, a_zero_point, B, b_scale, b_zero_point, C, y_scale, y_zero_point: quantized where there is a y_scale
void expand_gemm(Expansion& e) {
  const bool trans_b = e.node.attr_int("transB", 0) != 0;
  const ValueId a = operand(e, 0);
  const Scaling bs = scaling_in(e, 4, 5);
  const ValueId b = dequantized(e, e.in(3), bs, trans_b ? 0 : 1);
  std::vector<ValueId> inputs{a, b};
  const double alpha = e.node.attr_float("alpha", 1);
  if (e.has_input(6)) {  // in units of alpha and both scales
    ValueId scale = e.add("Mul", {e.reshape(e.in(1), {}), bs.scale});
    if (alpha != 1) scale = e.add("Mul", {scale, e.scalar(DType::kF32, alpha)});
    inputs.push_back(dequantized(e, e.in(6), {scale}, 0));
  }
  const ValueId y = e.add("Gemm", inputs, {{"alpha", alpha}, {"transA", e.node.attr_int("transA", 0)}, {"transB", int64_t{trans_b}}});
  if (e.has_input(7)) finish(e, y, 7);
  else e.set_output(0, y);
}

// A, B, b_scale, b_zero_point, bias
void expand_dynamic_matmul(Expansion& e) {
  const DynamicallyQuantized a = dynamically_quantized(e, e.in(0));
  e.set_output(0, scaled_product(e, a.y, a.scaling, e.in(1), scaling_in(e, 2, 3), optional_in(e, 4)));
}

// A, B, a_scale, b_scale, a_zero_point, b_zero_point, bias
void expand_matmul_to_float(Expansion& e) { e.set_output(0, scaled_product(e, e.in(0), scaling_in(e, 2, 4), e.in(1), scaling_in(e, 3, 5), optional_in(e, 6))); }

// W and R [directions, inputs, gates * hidden]: each direction has a scale, or each of its columns.
ValueId lstm_weights(Expansion& e, size_t weights, size_t scale) {
  const ValueId w = e.in(weights);
  Scaling s = scaling_in(e, scale, scale + 1);
  for (ValueId* v : {&s.scale, &s.zero_point}) {
    if (*v == kNoValue) continue;
    const Shape own = e.shape(*v);
    *v = e.reshape(*v, {own.empty() ? 1 : own[0], 1, own.size() > 1 ? own[1] : 1});
  }
  ValueId x = e.cast(w, DType::kF32);
  if (!is_zero(e, s.zero_point)) x = e.add("Sub", {x, e.cast(s.zero_point, DType::kF32)});
  return e.transpose(e.add("Mul", {x, s.scale}), {0, 2, 1});
}

// X, W, R, B, sequence_lens, initial_h, initial_c, P, W_scale, W_zero_point, R_scale, R_zero_point
void expand_dynamic_lstm(Expansion& e) {
  std::vector<ValueId> inputs{e.in(0), lstm_weights(e, 1, 8), lstm_weights(e, 2, 10)};
  for (size_t i = 3; i < 8; ++i) inputs.push_back(optional_in(e, i));
  while (inputs.back() == kNoValue) inputs.pop_back();
  const std::vector<ValueId> outputs = e.add_several(e.node.outputs.size(), "LSTM", inputs, e.node.attributes);
  for (size_t i = 0; i < outputs.size(); ++i) e.set_output(i, outputs[i]);
}

// Weights of MatMulNBits as they are meant, [N, K] in 8 bits, with scales and zero points of blocks of `block` along K.
struct PackedWeights {
  int64_t n, k, bits, block, blocks;

  explicit PackedWeights(const Node& node)
      : n(node.attr_int("N", 0)), k(node.attr_int("K", 0)), bits(node.attr_int("bits", 4)), block(node.attr_int("block_size", 0)), blocks(0) {
    if (n < 1 || k < 1 || block < 1 || (bits != 2 && bits != 4 && bits != 8)) throw Refusal("N, K, block_size or bits are not what the operator can have");
    blocks = (k - 1) / block + 1;
    require_possible({n, blocks, block}, DType::kU8);  // their products are computed with below
  }

  ValueId numbers(Expansion& e, const Tensor& packed) const {
    const std::vector<int64_t> all = unpacked(packed, bits, n * blocks, block);
    std::vector<int64_t> kept;
    for (int64_t row = 0; row < n; ++row) kept.insert(kept.end(), all.begin() + row * blocks * block, all.begin() + row * blocks * block + k);
    return e.constant("weights", from_ints(DType::kU8, {n, k}, kept));
  }
  ValueId zero_points(Expansion& e, const Tensor* packed) const {
    const std::vector<int64_t> all =
        packed ? unpacked(*packed, bits, n, blocks) : std::vector<int64_t>(static_cast<size_t>(n * blocks), int64_t{1} << (bits - 1));
    return e.constant("zero_points", from_ints(DType::kU8, {n, blocks}, all));
  }
};

// A, B, scales, zero_points, g_idx, bias
void expand_matmul_nbits(Expansion& e) {
  const PackedWeights weights(e.node);
  if (e.has_input(4)) throw Refusal("g_idx is not supported");
  const bool float_zeros = e.has_input(3) && is_float(e.dtype(e.in(3)));
  const ValueId q = weights.numbers(e, e.constant_in(1, "the weights"));
  const ValueId zeros =
      float_zeros ? e.reshape(e.in(3), {weights.n, weights.blocks}) : weights.zero_points(e, e.has_input(3) ? &e.constant_in(3, "zero points") : nullptr);
  const ValueId floats = dequantized(e, q, {e.reshape(e.in(2), {weights.n, weights.blocks}), zeros}, 1, weights.block);
  const DType type = e.dtype(e.in(0));
  const ValueId y = e.add("MatMul", {e.in(0), e.cast(e.transpose(floats, {1, 0}), type)});
  e.set_output(0, e.has_input(5) ? e.add("Add", {y, e.in(5)}) : y);
}

OpDef row(std::string_view name, std::string_view inputs, void (*expand)(Expansion&), int outputs = 1) {
  return made_of_others("com.microsoft", name, inputs, expand, outputs);
}

}  // namespace

std::vector<OpDef> microsoft_quantization_ops() {
  return {
      row("QLinearAdd", "ifIifIfI", expand_add),
      row("QLinearMul", "ifIifIfI", expand_mul),
      row("QLinearSigmoid", "ifIfI", expand_sigmoid),
      row("QLinearLeakyRelu", "ifIfI", expand_leaky_relu),
      row("QLinearSoftmax", "ifIfI", expand_softmax),
      row("QLinearAveragePool", "ifIfI", expand_average_pool),
      row("QLinearGlobalAveragePool", "ifIfI", expand_global_average_pool),
      row("QLinearConcat", "fia+", expand_concat),
      row("QGemm", "ifIifIIFI", expand_gemm),
      row("DynamicQuantizeMatMul", "fifIF", expand_dynamic_matmul),
      row("MatMulIntegerToFloat", "iiffIIF", expand_matmul_to_float),
      row("DynamicQuantizeLSTM", "fiiFIFFFfifi", expand_dynamic_lstm, 3),
      row("MatMulNBits", "fifAIF", expand_matmul_nbits),
  };
}

}  // namespace amdahl
