#include "tuner/validation/plain_numbers.h"

#include <set>
#include <string_view>

#include "graph/dtype.h"

namespace amdahl {
namespace {

bool takes_any_number(const Graph& graph, const Node& node, size_t input) {
  static const std::set<std::string_view> kInAnyPlace = {"Add",
                                                         "Sub",
                                                         "Mul",
                                                         "Neg",
                                                         "Abs",
                                                         "Sign",
                                                         "Max",
                                                         "Min",
                                                         "Clip",
                                                         "Relu",
                                                         "MatMul",
                                                         "MatMulInteger",
                                                         "ConvInteger",
                                                         "DequantizeLinear",
                                                         "QuantizeLinear",
                                                         "BitwiseAnd",
                                                         "BitwiseOr",
                                                         "BitwiseXor",
                                                         "BitwiseNot",
                                                         "Equal",
                                                         "Less",
                                                         "LessOrEqual",
                                                         "Greater",
                                                         "GreaterOrEqual",
                                                         "Concat",
                                                         "Identity"};
  static const std::set<std::string_view> kAsData = {"Reshape", "Flatten", "Squeeze", "Unsqueeze",      "Transpose", "Slice",     "Split",     "Expand",
                                                     "Tile",    "Pad",     "Gather",  "GatherElements", "GatherND",  "ReduceMax", "ReduceMin", "MaxPool"};
  if (!node.domain.empty()) return false;
  if (node.op == "Where") return input > 0;
  // Doubles of the oracle hold integers of 32 bits.
  if (node.op == "Cast") return size_of(graph.value(node.inputs[0]).dtype) <= 4 || !is_float(graph.value(node.outputs[0]).dtype);
  return kInAnyPlace.count(node.op) > 0 || (input == 0 && kAsData.count(node.op) > 0);
}

bool is_integer(const Graph& graph, ValueId value) {
  const DType dtype = graph.value(value).dtype;
  return !is_float(dtype) && dtype != DType::kBool;
}

}  // namespace

bool is_plain_number(const Graph& graph, ValueId value) {
  if (!is_integer(graph, value)) return false;
  std::set<ValueId> reached{value};
  for (const Node& node : graph.nodes)
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!reached.count(node.inputs[i])) continue;
      if (!takes_any_number(graph, node, i)) return false;
      for (ValueId out : node.outputs)
        if (out != kNoValue && is_integer(graph, out)) reached.insert(out);
    }
  return true;
}

}  // namespace amdahl
