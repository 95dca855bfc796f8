#include "graph/clean_up/fold.h"

#include <algorithm>

#include "graph/clean_up/fold_cost.h"
#include "graph/clean_up/fold_movement.h"
#include "graph/oracle.h"

namespace amdahl {
namespace {

// Masks and tables of positions are made from a few bytes: those of 1024 positions in float32 take 4 MiB, and 16 while they are
// evaluated.
constexpr double kFloorBytes = 0x1p25;

// Constants may share memory, all of them the same piece of one file: what is counted is memory, not constants.
double distinct_bytes(const Graph& graph) {
  std::vector<std::pair<const std::byte*, const std::byte*>> ranges;
  for (const Value& v : graph.values)
    if (v.constant) ranges.emplace_back(v.constant->data(), v.constant->data() + v.constant->bytes());
  std::sort(ranges.begin(), ranges.end());
  double bytes = 0;
  const std::byte* end = nullptr;
  for (const auto& [from, to] : ranges) {
    if (to <= end) continue;
    bytes += static_cast<double>(to - std::max(from, end));
    end = to;
  }
  return bytes;
}

Tensor shape_of(const Node& node, const Shape& shape) {
  const auto rank = static_cast<int64_t>(shape.size());
  const auto clamp = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank); };
  const int64_t start = clamp(node.attr_int("start", 0)), end = std::max(start, clamp(node.attr_int("end", rank)));
  return from_ints(DType::kI64, {end - start}, {shape.begin() + start, shape.begin() + end});
}

}  // namespace

FoldBudget::FoldBudget(const Graph& graph) {
  const double there = distinct_bytes(graph);
  bytes = kFloorBytes + 8 * there;  // the floats of bytes, and what zero points make of them on the way
  working = kFloorBytes + 16 * there;
  operations = 2e8 + 16 * there;
}

bool fold_node(Graph& graph, const Node& node, FoldBudget& budget) {
  const auto constant_of = [&](ValueId v) -> std::optional<Tensor>& { return graph.values[static_cast<size_t>(v)].constant; };
  if (node.domain.empty() && (node.op == "Shape" || node.op == "Size") && node.inputs.size() == 1) {
    const Shape& shape = graph.value(node.inputs[0]).shape;
    constant_of(node.outputs[0]) = node.op == "Shape" ? shape_of(node, shape) : from_ints(DType::kI64, {}, {numel(shape)});
    return true;
  }
  double bytes = 0;
  std::vector<const Tensor*> inputs;
  bool varies = false;
  for (ValueId v : node.inputs) {
    if (v != kNoValue && !graph.is_constant(v)) return false;
    inputs.push_back(v == kNoValue ? nullptr : &*graph.value(v).constant);
    varies |= v != kNoValue && graph.value(v).varies;
  }
  for (ValueId v : node.outputs)
    if (v != kNoValue) bytes += static_cast<double>(numel(graph.value(v).shape)) * static_cast<double>(size_of(graph.value(v).dtype));
  if (!is_view(node)) {
    const FoldCost cost = fold_cost(graph, node);
    if (cost.operations > budget.operations || cost.bytes > budget.working || bytes > budget.bytes) return false;
    budget.operations -= cost.operations;
    budget.bytes -= bytes;
  }
  for (ValueId v : node.outputs)
    if (v != kNoValue) graph.values[static_cast<size_t>(v)].varies |= varies;
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
