// FusedMatMul, FusedGemm and FusedConv of ONNX Runtime: a product, and what it has taken into it.

#include <fmt/format.h>

#include "graph/ops/composed.h"
#include "graph/ops/quantized.h"

namespace amdahl {
namespace {

// trans_batch: the first dimension is that of rows (or columns), batches come after it.
ValueId operand(Expansion& e, size_t i, bool trans, bool trans_batch) {
  const ValueId x = e.in(i);
  const int64_t rank = e.rank(x);
  if (rank < 2 || (!trans && !trans_batch)) return x;
  std::vector<int64_t> perm;
  if (trans_batch)
    for (int64_t d = 1; d + 1 < rank; ++d) perm.push_back(d);
  else
    for (int64_t d = 0; d + 2 < rank; ++d) perm.push_back(d);
  const int64_t row = trans_batch ? 0 : rank - 2;
  perm.push_back(trans ? rank - 1 : row);
  perm.push_back(trans ? row : rank - 1);
  return e.transpose(x, perm);
}

void expand_fused_matmul(Expansion& e) {
  const auto is_set = [&](const char* name) { return e.node.attr_int(name, 0) != 0; };
  const ValueId y = e.add("MatMul", {operand(e, 0, is_set("transA"), is_set("transBatchA")), operand(e, 1, is_set("transB"), is_set("transBatchB"))});
  const double alpha = e.node.attr_float("alpha", 1);
  const DType type = e.dtype(y), of_alpha = is_half(type) ? DType::kF32 : type;  // as a half it would be rounded
  e.set_output(0, alpha == 1 ? y : e.cast(e.add("Mul", {e.cast(y, of_alpha), e.scalar(of_alpha, alpha)}), type));
}

// Parameters are alpha, beta and gamma of FusedGemm, or those of FusedConv's list, in the order of the operator's own.
ValueId activated(Expansion& e, ValueId y, const std::vector<double>& parameters) {
  const std::string name = e.node.attr_string("activation", "");
  const auto parameter = [&](size_t i, double otherwise) { return i < parameters.size() ? parameters[i] : otherwise; };
  if (name.empty()) return y;
  for (const char* plain : {"Relu", "Sigmoid", "Tanh", "Softplus", "Softsign"})
    if (name == plain) return e.add(name, {y});
  if (name == "LeakyRelu") return e.add(name, {y}, {{"alpha", parameter(0, 0.01)}});
  if (name == "ThresholdedRelu" || name == "Elu") return e.add(name, {y}, {{"alpha", parameter(0, 1)}});
  if (name == "HardSigmoid") return e.add(name, {y}, {{"alpha", parameter(0, 0.2)}, {"beta", parameter(1, 0.5)}});
  if (name == "Clip" && parameters.size() == 2) return e.add(name, {y, e.scalar(e.dtype(y), parameters[0]), e.scalar(e.dtype(y), parameters[1])});
  throw Refusal(fmt::format("the activation '{}' with {} parameters is not supported", name, parameters.size()));
}

void expand_fused_gemm(Expansion& e) {
  std::map<std::string, Attribute> attributes;
  for (const char* name : {"alpha", "beta", "transA", "transB"})
    if (const auto at = e.node.attributes.find(name); at != e.node.attributes.end()) attributes.insert(*at);
  std::vector<double> parameters;
  for (const char* name : {"activation_alpha", "activation_beta", "activation_gamma"})
    if (e.node.has(name)) parameters.push_back(e.node.attr_float(name, 0));
  e.set_output(0, activated(e, e.add("Gemm", e.node.inputs, attributes), parameters));
}

// X, W, B, Z
void expand_fused_conv(Expansion& e) {
  std::vector<ValueId> inputs{e.in(0), e.in(1)};
  if (e.has_input(2)) inputs.push_back(e.in(2));
  ValueId y = e.add("Conv", inputs, window_attributes(e.node));
  if (e.has_input(3)) y = e.add("Add", {y, e.in(3)});
  const auto given = e.node.attributes.find("activation_params");
  const std::vector<double> parameters = given == e.node.attributes.end() ? std::vector<double>() : std::get<std::vector<double>>(given->second);
  e.set_output(0, activated(e, y, parameters));
}

}  // namespace

std::vector<OpDef> microsoft_products_ops() {
  return {
      made_of_others("com.microsoft", "FusedMatMul", "ff", expand_fused_matmul),
      made_of_others("com.microsoft", "TransposeMatMul", "ff", expand_fused_matmul),  // its older name
      made_of_others("com.microsoft", "FusedGemm", "ffF", expand_fused_gemm),
      made_of_others("com.microsoft", "FusedConv", "ffFF", expand_fused_conv),
  };
}

}  // namespace amdahl
