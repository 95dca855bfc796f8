#include "starter_kernels/kinds/normalization.h"

#include <algorithm>

#include "graph/graph.h"
#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/kinds/number_json.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {

Work normalization_work(const Problem& problem) {
  Work w{8.0 * static_cast<double>(numel(problem.out[0].shape)), 0};
  for (const Access& a : problem.in) w.bytes += operand_bytes(a);
  for (const Access& a : problem.out) w.bytes += operand_bytes(a);
  return w;
}

std::optional<Lowering> lower_layer(const Graph& graph, const Node& node) {
  const Value& x = graph.value(node.inputs[0]);
  int64_t axis = node.attr_int("axis", -1);
  if (axis < 0) axis += static_cast<int64_t>(x.shape.size());
  Lowering l;
  Problem& p = l.variant.problem;
  l.inputs = {node.inputs[0]};
  p.in = {dense_access(graph, node.inputs[0])};
  p.out = {dense_access(graph, node.outputs[0])};
  l.outputs = {node.outputs[0]};
  for (size_t i = 1; i < 3; ++i) {
    if (i >= node.inputs.size() || node.inputs[i] == kNoValue) continue;
    Access a = dense_access(graph, node.inputs[i]);
    while (a.shape.size() > x.shape.size()) a.shape.erase(a.shape.begin()), a.strides.erase(a.strides.begin());
    l.inputs.push_back(node.inputs[i]);
    p.in.push_back(broadcast_access(a, x.shape));
    p.params[i == 1 ? "scale" : "shift"] = true;
  }
  const bool centred = node.op == "LayerNormalization";
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    l.outputs.push_back(node.outputs[i]);
    p.out.push_back(broadcast_access(graph, node.outputs[i], x.shape));
    p.params[centred && i == 1 ? "keep_mean" : "keep_inverse"] = true;
  }
  p.params["axis"] = axis;
  p.params["epsilon"] = number_json(node.attr_float("epsilon", 1e-5));
  return l;
}

namespace {

// One input, one output, both as they lie.
Lowering without_parameters(const Graph& graph, const Node& node, Json params) {
  Lowering l;
  l.inputs = {node.inputs[0]};
  l.outputs = {node.outputs[0]};
  l.variant.problem.in = {dense_access(graph, node.inputs[0])};
  l.variant.problem.out = {dense_access(graph, node.outputs[0])};
  l.variant.problem.params = std::move(params);
  return l;
}

int64_t counted_from_front(int64_t axis, const Shape& shape) { return axis < 0 ? axis + static_cast<int64_t>(shape.size()) : axis; }

}  // namespace

std::optional<Lowering> lower_mean_variance(const Graph& graph, const Node& node) {
  std::vector<int64_t> axes = node.attr_ints("axes", {0, 2, 3});
  for (int64_t& axis : axes) axis = counted_from_front(axis, graph.value(node.inputs[0]).shape);
  return without_parameters(graph, node, {{"axes", axes}, {"divisor", "deviation"}, {"epsilon", 1e-9}});
}

std::optional<Lowering> lower_lp(const Graph& graph, const Node& node) {
  const int64_t axis = counted_from_front(node.attr_int("axis", -1), graph.value(node.inputs[0]).shape);
  const char* divisor = node.attr_int("p", 2) == 1 ? "l1" : "l2";
  return without_parameters(graph, node, {{"axes", Shape{axis}}, {"divisor", divisor}, {"epsilon", 0.0}});
}

// The input as [batch, groups, channels of a group, pixels]; rows are the last two.
std::optional<Lowering> lower_channels(const Graph& graph, const Node& node) {
  const Value& x = graph.value(node.inputs[0]);
  const bool grouped = node.op == "GroupNormalization";
  const int64_t channels = x.shape[1], groups = grouped ? node.attr_int("num_groups", 1) : channels, inside = channels / groups;
  const Shape shape{x.shape[0], groups, inside, numel(x.shape) / std::max<int64_t>(1, x.shape[0] * channels)};
  const bool by_group = grouped && node.version < 21;
  const Shape parameter = by_group ? Shape{groups, 1, 1} : Shape{groups, inside, 1};
  Lowering l;
  Problem& p = l.variant.problem;
  l.inputs = {node.inputs[0], node.inputs[1], node.inputs[2]};
  l.outputs = {node.outputs[0]};
  p.in = {Access::dense(x.dtype, shape, x.constant.has_value())};
  for (size_t i = 1; i < 3; ++i)
    p.in.push_back(broadcast_access(Access::dense(graph.value(node.inputs[i]).dtype, parameter, graph.is_constant(node.inputs[i])), shape));
  p.out = {Access::dense(x.dtype, shape)};
  p.params = Json{{"axis", 2}, {"epsilon", number_json(node.attr_float("epsilon", 1e-5))}, {"scale", true}, {"shift", true}};
  return l;
}

}  // namespace amdahl
