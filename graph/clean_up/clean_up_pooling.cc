#include <algorithm>

#include "graph/clean_up/clean_up_passes.h"

namespace amdahl {
namespace {

// Counted from the front; nothing where they are not known.
std::vector<int64_t> axes_of(const Graph& graph, const Node& node, int64_t rank) {
  std::vector<int64_t> axes = node.attr_ints("axes");
  if (node.inputs.size() > 1 && node.inputs[1] != kNoValue && graph.is_constant(node.inputs[1])) axes = to_ints(*graph.value(node.inputs[1]).constant);
  for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  std::sort(axes.begin(), axes.end());
  return axes;
}

bool is_mean_of_an_image(const Graph& graph, const Node& node) {
  if (!node.domain.empty() || node.op != "ReduceMean") return false;
  const Value& x = graph.value(node.inputs[0]);
  return is_float(x.dtype) && x.shape.size() == 4 && numel(x.shape) > 0 && axes_of(graph, node, 4) == std::vector<int64_t>{2, 3};
}

void lower(Graph& graph, const Node& node, std::vector<Node>& out) {
  const Value x = graph.value(node.inputs[0]);
  NodeWriter write(graph, out, node);
  if (node.attr_int("keepdims", 1) != 0) return write.add_to("GlobalAveragePool", {node.inputs[0]}, node.outputs[0]);
  const ValueId pooled = write.add("GlobalAveragePool", {node.inputs[0]}, x.dtype, {x.shape[0], x.shape[1], 1, 1});
  const ValueId target = write.constant("shape", Tensor::of(DType::kI64, {2}, std::vector<int64_t>{x.shape[0], x.shape[1]}));
  write.add_to("Reshape", {pooled, target}, node.outputs[0]);
}

}  // namespace

bool lower_image_means(Graph& graph) {
  std::vector<Node> out;
  bool changed = false;
  for (Node& node : graph.nodes) {
    if (is_mean_of_an_image(graph, node)) {
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
