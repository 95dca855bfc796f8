#include "graph/onnx/opset_upgrade.h"

#include "graph/node_upgrade.h"
#include "graph/op.h"

namespace amdahl {
namespace {

void upgrade_node(Graph& graph, Node& node, int opset, std::vector<Node>& out) {
  NodeUpgrade upgrade{graph, node, NodeWriter(graph, out, node, opset)};
  if (const OpDef* op = find_op("", node.op))  // of the name that it has before: a change may give it another
    for (const VersionChange& change : op->changes)
      if (node.version < change.version && change.version <= opset) change.apply(upgrade);
  if (upgrade.replaced) return;
  node.version = opset;
  out.push_back(std::move(node));
}

}  // namespace

void upgrade_opset(Graph& graph, int opset) {
  std::vector<Node> out;
  for (Node& node : graph.nodes) {
    if (node.domain.empty() && node.version < opset) upgrade_node(graph, node, opset, out);
    else out.push_back(std::move(node));
  }
  graph.nodes = std::move(out);
}

}  // namespace amdahl
