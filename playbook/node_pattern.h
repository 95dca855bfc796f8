#pragma once
// Walking a graph to recognise what an exporter wrote out in primitive operators.

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "playbook/rewrite.h"
#include "playbook/strided_view.h"

namespace amdahl {

class NodePattern {
 public:
  explicit NodePattern(const RewriteContext& context) : context_(context), graph_(context.graph) {}

  const Node& node(NodeId n) const { return graph_.node(n); }
  bool is(NodeId n, std::string_view op) const { return n >= 0 && node(n).domain.empty() && node(n).op == op; }
  ValueId out(NodeId n) const { return node(n).outputs[0]; }
  const Shape& shape(ValueId v) const { return graph_.value(v).shape; }
  std::optional<double> scalar(ValueId v) const { return scalar_constant(graph_, v); }

  // The node that makes v, if it is an `op`; -1 otherwise.
  NodeId producer(ValueId v, std::string_view op) const {
    const NodeId n = v == kNoValue ? -1 : context_.uses.producer[static_cast<size_t>(v)];
    return is(n, op) ? n : -1;
  }
  const std::vector<NodeId>& consumers(ValueId v) const { return context_.uses.consumers[static_cast<size_t>(v)]; }
  // The node that alone reads v, if it is an `op` and v is no result of the model.
  NodeId sole_consumer(ValueId v, std::string_view op) const {
    const auto& readers = consumers(v);
    if (readers.empty() || std::count(graph_.outputs.begin(), graph_.outputs.end(), v)) return -1;
    for (NodeId n : readers)
      if (n != readers[0]) return -1;
    return is(readers[0], op) ? readers[0] : -1;
  }
  // Of a node with two inputs, the one that is not v.
  ValueId other(NodeId n, ValueId v) const { return node(n).inputs[0] == v ? node(n).inputs[1] : node(n).inputs[0]; }

  // x of x^2, written as Pow or Mul; kNoValue otherwise.
  ValueId square_of(NodeId n) const {
    if (is(n, "Pow") && scalar(node(n).inputs[1]) == 2.0) return node(n).inputs[0];
    if (is(n, "Mul") && node(n).inputs[0] == node(n).inputs[1]) return node(n).inputs[0];
    return kNoValue;
  }
  NodeId square_producer(ValueId v) const {
    const NodeId n = v == kNoValue ? -1 : context_.uses.producer[static_cast<size_t>(v)];
    return n >= 0 && square_of(n) != kNoValue ? n : -1;
  }
  // The first of the trailing axes that a ReduceMean with kept dimensions folds, or nullopt.
  std::optional<int64_t> mean_axis(NodeId n) const {
    if (!is(n, "ReduceMean") || node(n).attr_int("keepdims", 1) == 0) return std::nullopt;
    std::vector<int64_t> axes = node(n).attr_ints("axes");
    if (node(n).inputs.size() > 1 && node(n).inputs[1] != kNoValue) {
      if (!graph_.is_constant(node(n).inputs[1])) return std::nullopt;
      axes = to_ints(*graph_.value(node(n).inputs[1]).constant);
    }
    const auto rank = static_cast<int64_t>(shape(node(n).inputs[0]).size());
    for (int64_t& a : axes) a = a < 0 ? a + rank : a;
    std::sort(axes.begin(), axes.end());
    for (size_t i = 0; i < axes.size(); ++i)
      if (axes[i] != rank - static_cast<int64_t>(axes.size() - i)) return std::nullopt;
    return axes.empty() ? std::nullopt : std::optional(axes[0]);
  }
  // Adding a scalar constant to v: the node, and the constant.
  struct Shifted {
    NodeId node = -1;
    double by = 0;
  };
  Shifted shifted(ValueId v) const {
    const NodeId n = sole_consumer(v, "Add");
    if (n < 0) return {};
    const auto by = scalar(other(n, v));
    return by ? Shifted{n, *by} : Shifted{};
  }
  // A parameter that broadcasts along rows only: constant over all dimensions before `axis`.
  bool is_row_parameter(ValueId v, const Shape& space, int64_t axis) const {
    const Shape& s = shape(v);
    if (s.size() > space.size()) return false;
    for (size_t d = 0; d < s.size(); ++d) {
      const size_t at = space.size() - s.size() + d;
      if (s[d] != 1 && (static_cast<int64_t>(at) < axis || s[d] != space[at])) return false;
    }
    return true;
  }

 private:
  const RewriteContext& context_;
  const Graph& graph_;
};

}  // namespace amdahl
