#include "plan/index_limit.h"

#include <algorithm>

#include "plan/plan.h"

namespace amdahl {
namespace {

int64_t limit_of(const Graph& graph, const Uses& uses, ValueId value) {
  int64_t limit = kNoIndexLimit;
  for (NodeId n : uses.consumers[static_cast<size_t>(value)]) {
    const Node& node = graph.node(n);
    if ((node.op == "Gather" || node.op == "GatherElements") && node.inputs[1] == value) {
      const Shape& table = graph.value(node.inputs[0]).shape;
      int64_t axis = node.attr_int("axis", 0);
      if (axis < 0) axis += static_cast<int64_t>(table.size());
      limit = std::min(limit, table[static_cast<size_t>(axis)]);
    } else if (node.op == "Cast" || is_renaming(node) || node.op == "Expand" || node.op == "Slice" || node.op == "Transpose") {
      limit = std::min(limit, limit_of(graph, uses, node.outputs[0]));
    }
  }
  return limit;
}

}  // namespace

int64_t index_limit(const Graph& graph, ValueId input) { return limit_of(graph, uses_of(graph), input); }

}  // namespace amdahl
