#include <algorithm>

#include "graph/clean_up/clean_up_passes.h"
#include "graph/clean_up/fold.h"

namespace amdahl {

bool fold_constants(Graph& graph, FoldBudget& budget) {
  const size_t before = graph.nodes.size();
  std::erase_if(graph.nodes, [&](const Node& node) {
    const bool known = std::all_of(node.outputs.begin(), node.outputs.end(), [&](ValueId v) { return v == kNoValue || graph.is_constant(v); });
    return known || fold_node(graph, node, budget);
  });
  return graph.nodes.size() != before;
}

}  // namespace amdahl
