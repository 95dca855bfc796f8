#include "starter_kernels/kinds/normalization.h"

#include <algorithm>

#include "graph/graph.h"
#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/kinds/number_json.h"
#include "starter_kernels/kinds/param_json.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {
namespace {

using Divisor = NormalizationParams::Divisor;

// kRoot has no name: it is absent.
constexpr ChoiceNames<Divisor, 3> kDivisors{{{"deviation", Divisor::kDeviation}, {"l1", Divisor::kL1}, {"l2", Divisor::kL2}}};

}  // namespace

NormalizationParams NormalizationParams::of(const Problem& problem) {
  const Json& params = problem.params;
  NormalizationParams p;
  if (params.contains("axes")) p.axes = params.at("axes").get<std::vector<int64_t>>();
  else p.axis = params.at("axis").get<int64_t>();
  p.epsilon = number_of(params.at("epsilon"));
  if (params.contains("divisor")) p.divisor = choice_named(kDivisors, params.at("divisor").get<std::string>());
  p.scale = params.value("scale", false);
  p.shift = params.value("shift", false);
  p.keep_input = params.value("keep_input", false);
  p.keep_mean = params.value("keep_mean", false);
  p.keep_inverse = params.value("keep_inverse", false);
  return p;
}

void NormalizationParams::write(Problem& problem) const {
  Json& params = problem.params;
  const bool named = divisor != Divisor::kRoot;
  put_param(params, "axis", !axes, axis);
  put_param(params, "axes", axes.has_value(), axes ? Json(*axes) : Json());
  params["epsilon"] = number_json(epsilon);
  put_param(params, "divisor", named, named ? name_of_choice(kDivisors, divisor) : "");
  put_param(params, "scale", scale, true);
  put_param(params, "shift", shift, true);
  put_param(params, "keep_input", keep_input, true);
  put_param(params, "keep_mean", keep_mean, true);
  put_param(params, "keep_inverse", keep_inverse, true);
}

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
  NormalizationParams params;
  params.axis = axis;
  params.epsilon = node.attr_float("epsilon", 1e-5);
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
    (i == 1 ? params.scale : params.shift) = true;
  }
  const bool centred = node.op == "LayerNormalization";
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    l.outputs.push_back(node.outputs[i]);
    p.out.push_back(broadcast_access(graph, node.outputs[i], x.shape));
    (centred && i == 1 ? params.keep_mean : params.keep_inverse) = true;
  }
  params.write(p);
  return l;
}

namespace {

// One input, one output, both as they lie.
Lowering without_parameters(const Graph& graph, const Node& node, std::vector<int64_t> axes, Divisor divisor, double epsilon) {
  Lowering l;
  l.inputs = {node.inputs[0]};
  l.outputs = {node.outputs[0]};
  l.variant.problem.in = {dense_access(graph, node.inputs[0])};
  l.variant.problem.out = {dense_access(graph, node.outputs[0])};
  NormalizationParams params;
  params.axes = std::move(axes);
  params.divisor = divisor;
  params.epsilon = epsilon;
  params.write(l.variant.problem);
  return l;
}

int64_t counted_from_front(int64_t axis, const Shape& shape) { return axis < 0 ? axis + static_cast<int64_t>(shape.size()) : axis; }

}  // namespace

std::optional<Lowering> lower_mean_variance(const Graph& graph, const Node& node) {
  std::vector<int64_t> axes = node.attr_ints("axes", {0, 2, 3});
  for (int64_t& axis : axes) axis = counted_from_front(axis, graph.value(node.inputs[0]).shape);
  return without_parameters(graph, node, std::move(axes), Divisor::kDeviation, 1e-9);
}

std::optional<Lowering> lower_lp(const Graph& graph, const Node& node) {
  const int64_t axis = counted_from_front(node.attr_int("axis", -1), graph.value(node.inputs[0]).shape);
  return without_parameters(graph, node, {axis}, node.attr_int("p", 2) == 1 ? Divisor::kL1 : Divisor::kL2, 0);
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
  NormalizationParams params;
  params.axis = 2;
  params.epsilon = node.attr_float("epsilon", 1e-5);
  params.scale = params.shift = true;
  params.write(p);
  return l;
}

}  // namespace amdahl
