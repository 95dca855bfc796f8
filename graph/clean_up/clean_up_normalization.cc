#include <cmath>

#include "graph/clean_up/clean_up_passes.h"

namespace amdahl {
namespace {

bool is_lowerable(const Graph& graph, const Node& node) {
  if (!node.domain.empty() || node.op != "BatchNormalization" || node.inputs.size() != 5) return false;
  if (node.attr_int("training_mode", 0) != 0) return false;
  for (size_t i = 1; i < node.outputs.size(); ++i)
    if (node.outputs[i] != kNoValue) return false;
  for (size_t i = 1; i < 5; ++i)
    if (!graph.is_constant(node.inputs[i])) return false;
  return graph.value(node.inputs[0]).shape.size() >= 2;
}

// y = (x - mean) / sqrt(variance + epsilon) * scale + shift, per channel (axis 1), as x * a + b. a and b are computed
// in double and rounded once.
void lower(Graph& graph, const Node& node, std::vector<Node>& out) {
  const auto channel = [&](size_t i) { return to_doubles(*graph.value(node.inputs[i]).constant); };
  const std::vector<double> scale = channel(1), shift = channel(2), mean = channel(3), variance = channel(4);
  const double epsilon = node.attr_float("epsilon", 1e-5);
  std::vector<double> a(scale.size()), b(scale.size());
  for (size_t c = 0; c < a.size(); ++c) {
    a[c] = scale[c] / std::sqrt(variance[c] + epsilon);
    b[c] = shift[c] - mean[c] * a[c];
  }
  const Value x = graph.value(node.inputs[0]);
  Shape per_channel(x.shape.size() - 1, 1);  // broadcasts from the right: [C, 1, 1, ...]
  per_channel[0] = static_cast<int64_t>(a.size());
  NodeWriter write(graph, out, node);
  const ValueId factor = write.constant("scale", from_doubles(x.dtype, per_channel, a));
  const ValueId offset = write.constant("shift", from_doubles(x.dtype, per_channel, b));
  const ValueId scaled = write.add("Mul", {node.inputs[0], factor}, x.dtype, x.shape);
  write.add_to("Add", {scaled, offset}, node.outputs[0]);
}

}  // namespace

bool lower_normalization(Graph& graph) {
  std::vector<Node> out;
  bool changed = false;
  for (Node& node : graph.nodes) {
    if (is_lowerable(graph, node)) {
      lower(graph, node, out);
      changed = true;
    } else {
      out.push_back(std::move(node));
    }
  }
  graph.nodes = std::move(out);
  return changed;
}

}  // namespace amdahl
