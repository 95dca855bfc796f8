#include "graph/fold.h"

#include <algorithm>

#include "graph/fold_movement.h"
#include "graph/fold_work.h"
#include "graph/oracle.h"

namespace amdahl {
namespace {

// A ConstantOfShape or Expand may make a constant of any size from a few bytes; past this it is better computed.
constexpr size_t kMaxGrownBytes = size_t{64} << 20;

Tensor shape_of(const Node& node, const Shape& shape) {
  const auto rank = static_cast<int64_t>(shape.size());
  const auto clamp = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank); };
  const int64_t start = clamp(node.attr_int("start", 0)), end = std::max(start, clamp(node.attr_int("end", rank)));
  return from_ints(DType::kI64, {end - start}, {shape.begin() + start, shape.begin() + end});
}

}  // namespace

FoldBudget::FoldBudget(const Graph& graph) : bytes(0x1p28), operations(2e8) {
  for (const Value& v : graph.values) {
    if (!v.constant) continue;
    bytes += 4.0 * static_cast<double>(v.constant->bytes());
    operations += 64.0 * static_cast<double>(v.constant->numel());
  }
}

bool fold_node(Graph& graph, const Node& node, FoldBudget& budget) {
  const auto constant_of = [&](ValueId v) -> std::optional<Tensor>& {
    return graph.values[static_cast<size_t>(v)].constant;
  };
  if (node.domain.empty() && (node.op == "Shape" || node.op == "Size") && node.inputs.size() == 1) {
    const Shape& shape = graph.value(node.inputs[0]).shape;
    constant_of(node.outputs[0]) =
        node.op == "Shape" ? shape_of(node, shape) : from_ints(DType::kI64, {}, {numel(shape)});
    return true;
  }
  size_t bytes_in = 0, bytes_out = 0;
  std::vector<const Tensor*> inputs;
  for (ValueId v : node.inputs) {
    if (v != kNoValue && !graph.is_constant(v)) return false;
    inputs.push_back(v == kNoValue ? nullptr : &*graph.value(v).constant);
    if (v != kNoValue) bytes_in += inputs.back()->bytes();
  }
  for (ValueId v : node.outputs)
    if (v != kNoValue) bytes_out += static_cast<size_t>(numel(graph.value(v).shape)) * size_of(graph.value(v).dtype);
  if (bytes_out > std::max(kMaxGrownBytes, bytes_in)) return false;
  const double work = is_view(node) ? 0 : fold_work(graph, node), bytes = is_view(node) ? 0 : static_cast<double>(bytes_out);
  if (work > budget.operations || bytes > budget.bytes) return false;
  budget.operations -= work;
  budget.bytes -= bytes;
  if (inputs.size() > 0 && inputs[0] && node.outputs[0] != kNoValue) {
    if (auto moved = fold_movement(node, *inputs[0], graph.value(node.outputs[0]).shape)) {
      constant_of(node.outputs[0]) = std::move(*moved);
      return true;
    }
  }
  std::vector<Tensor> results = evaluate_node(graph, node, inputs);
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (node.outputs[i] != kNoValue) constant_of(node.outputs[i]) = std::move(results[i]);
  return true;
}

}  // namespace amdahl
