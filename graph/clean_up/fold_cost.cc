#include "graph/clean_up/fold_cost.h"

#include <algorithm>

#include "graph/clean_up/fold_movement.h"
#include "graph/recurrence_nodes.h"

namespace amdahl {
namespace {

double elements(const Graph& graph, ValueId v) { return v == kNoValue ? 0.0 : static_cast<double>(numel(graph.value(v).shape)); }

// How often each element of the output, or of the first input where that is larger, is worked on.
double depth(const Graph& graph, const Node& node) {
  const auto shape = [&](size_t i) -> const Shape& { return graph.value(node.inputs[i]).shape; };
  if (node.op == "MatMul" || node.op == "MatMulInteger") return static_cast<double>(shape(0).back());
  if (node.op == "Gemm") return static_cast<double>(shape(0)[node.attr_int("transA", 0) ? 0 : 1]);
  // A weight's first dimension are the output's channels, or transposed the input's, all of which an output may read.
  if (node.op == "Conv" || node.op == "ConvInteger") return elements(graph, node.inputs[1]) / std::max(1.0, static_cast<double>(shape(1)[0]));
  if (node.op == "ConvTranspose" || node.op == "Einsum") return node.inputs.size() < 2 ? 1.0 : elements(graph, node.inputs[1]);
  if (node.op == "Attention") return 2.0 * static_cast<double>(shape(1)[shape(1).size() - 2]);
  if (is_recurrence(node)) return elements(graph, node.inputs[1]) + elements(graph, node.inputs[2]);
  if (node.op == "LRN") return static_cast<double>(node.attr_int("size", 1));
  double taps = 1;
  for (int64_t k : node.attr_ints("kernel_shape")) taps *= static_cast<double>(k);
  return taps;
}

// Elements of tensors that the evaluator makes for itself; `steps` are its products.
double between(const Graph& graph, const Node& node, double steps) {
  if (node.op == "Einsum") return node.inputs.size() < 2 ? 0 : 2 * elements(graph, node.inputs[0]) * elements(graph, node.inputs[1]);
  return node.op == "Attention" || node.op == "Conv" || node.op == "ConvInteger" || node.op == "ConvTranspose" ? steps : 0;
}

}  // namespace

FoldCost fold_cost(const Graph& graph, const Node& node) {
  double in = 0, out = 0;
  for (ValueId v : node.inputs) in += elements(graph, v);
  for (ValueId v : node.outputs) out += elements(graph, v);
  const double steps = depth(graph, node) * std::max(out, node.inputs.empty() ? 0.0 : elements(graph, node.inputs[0]));
  return {in + out + steps, moves_bytes(node) ? 0.0 : 8 * (in + out + between(graph, node, steps))};
}

}  // namespace amdahl
