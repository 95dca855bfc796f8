#include "graph/models/index_ranges.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>

#include "base/error.h"
#include "graph/clean_up/fold_cost.h"
#include "graph/oracle.h"
#include "graph/positions.h"
#include "graph/recurrence_nodes.h"

namespace amdahl {
namespace {

constexpr double kMostWork = 2e7;  // operations for all indices of a run: a tenth of a second

// What one node reads by index: whole numbers of `indices` from `lowest` of a size up to `sizes`, which are taken in turn (a tuple of GatherND has one for each
// dimension that it names).
struct IndexUse {
  ValueId indices = kNoValue, indexed = kNoValue;
  Shape sizes;
  bool from_end = true;                 // negative ones count from the end
  std::optional<int64_t> ignored = {};  // a number that means none
  int64_t further = 0;                  // the last element read lies this far behind the index
};

bool has_input(const Node& node, size_t i) { return i < node.inputs.size() && node.inputs[i] != kNoValue; }

int64_t size_along(const Shape& shape, int64_t axis) { return shape.at(static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(shape.size()) : axis)); }

IndexUse of_tuples(const Node& node, const Shape& data, const Shape& indices) {
  const int64_t first = node.attr_int("batch_dims", 0);
  return {node.inputs[1], node.inputs[0], Shape(data.begin() + first, data.begin() + first + indices.back())};
}

IndexUse of_labels(const Node& node, const Shape& scores) {
  IndexUse use{node.inputs[1], node.inputs[0], {scores.at(1)}, false};
  if (node.has("ignore_index")) use.ignored = node.attr_int("ignore_index", 0);
  return use;
}

// com.microsoft's form may give the first position alone.
IndexUse of_positions(const Graph& graph, const Node& node) {
  const bool microsoft = node.domain == "com.microsoft";
  const ValueId ids = node.inputs[microsoft ? 1 : 3], cache = node.inputs[microsoft ? 2 : 1];
  const Shape &shape = graph.value(ids).shape, &x = graph.value(node.inputs[0]).shape;
  IndexUse use{ids, cache, {graph.value(cache).shape.at(0)}, false};
  if (microsoft && shape.size() <= 1 && numel(shape) == 1) use.further = x[x.size() - 2] - 1;
  return use;
}

// sequence_lens of a recurrence: how many of X's steps a row has, all of them at most.
IndexUse of_lengths(const Node& node, const Shape& x) { return {node.inputs[4], node.inputs[0], {x[node.attr_int("layout", 0) != 0 ? 1 : 0] + 1}, false}; }

std::optional<IndexUse> use_of(const Graph& graph, const Node& node) {
  const auto shape = [&](size_t i) -> const Shape& { return graph.value(node.inputs[i]).shape; };
  if (node.op == "RotaryEmbedding") {
    if (!has_input(node, node.domain == "com.microsoft" ? 1 : 3)) return std::nullopt;
    return of_positions(graph, node);
  }
  if (!node.domain.empty()) return std::nullopt;
  if (is_recurrence(node) && has_input(node, 4)) return of_lengths(node, shape(0));
  if (has_positions_along_axis(node)) return IndexUse{node.inputs[1], node.inputs[0], {size_along(shape(0), node.attr_int("axis", 0))}};
  if (node.op == "GatherND" || node.op == "ScatterND") return of_tuples(node, shape(0), shape(1));
  if (node.op == "RoiAlign") return IndexUse{node.inputs[2], node.inputs[0], {shape(0).at(0)}, false};
  if (node.op == "SoftmaxCrossEntropyLoss" || node.op == "NegativeLogLikelihoodLoss") return of_labels(node, shape(0));
  return std::nullopt;
}

void check(const Graph& graph, const Node& node, const IndexUse& use, const RefTensor& indices) {
  for (size_t i = 0; i < indices.ints.size(); ++i) {
    const int64_t index = indices.ints[i], size = use.sizes[i % use.sizes.size()], lowest = use.from_end ? -size : 0, last = size - 1 - use.further;
    if ((index >= lowest && index <= last) || index == use.ignored || indices.bound_at(static_cast<int64_t>(i)) > 0) continue;
    const std::string &held = graph.value(use.indices).name, &data = graph.value(use.indexed).name;
    const std::string range = last < lowest ? "there is nothing to index" : fmt::format("it must lie in [{}, {}]", lowest, last);
    throw Error(ExitCode::kBadInput, fmt::format("node '{}' ({}): '{}' holds index {} into '{}' of shape {}; {}", node.name, node.op, held, index, data,
                                                 to_string(graph.value(use.indexed).shape), range));
  }
}

// Values of a run that are computed before it.
class Ahead {
 public:
  Ahead(const Graph& graph, const std::vector<Tensor>& inputs) : graph_(graph), producer_(uses_of(graph).producer) {
    for (size_t i = 0; i < inputs.size(); ++i) given_[graph.inputs[i]] = &inputs[i];
  }

  // Nothing where it would take too long.
  std::optional<RefTensor> value(ValueId v) {
    std::set<NodeId> nodes;
    std::set<ValueId> from;
    collect(v, nodes, from);
    double work = 0;
    for (NodeId n : nodes) work += fold_cost(graph_, graph_.node(n)).operations;
    if (work > left_) return std::nullopt;
    left_ -= work;
    RefValues given;
    for (ValueId input : from) given[input] = RefTensor::of(*given_.at(input));
    RefValues values = evaluate(graph_, {nodes.begin(), nodes.end()}, given, {v}, true);
    return std::move(values.at(v));
  }

 private:
  void collect(ValueId v, std::set<NodeId>& nodes, std::set<ValueId>& from) {
    std::vector<ValueId> open{v};
    while (!open.empty()) {
      const ValueId next = open.back();
      open.pop_back();
      if (next == kNoValue || graph_.is_constant(next)) continue;
      if (given_.count(next)) {
        from.insert(next);
      } else if (const NodeId n = producer_[static_cast<size_t>(next)]; nodes.insert(n).second) {
        const std::vector<ValueId>& read = graph_.node(n).inputs;
        open.insert(open.end(), read.begin(), read.end());
      }
    }
  }

  const Graph& graph_;
  std::vector<NodeId> producer_;
  std::map<ValueId, const Tensor*> given_;
  double left_ = kMostWork;
};

}  // namespace

void check_indices(const Graph& graph, const std::vector<Tensor>& inputs) {
  Ahead ahead(graph, inputs);
  for (const Node& node : graph.nodes) {
    const std::optional<IndexUse> use = use_of(graph, node);
    if (!use || use->sizes.empty()) continue;
    if (const std::optional<RefTensor> indices = ahead.value(use->indices)) check(graph, node, *use, *indices);
  }
}

}  // namespace amdahl
