#include "graph/zero_signs.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "graph/dtype.h"

namespace amdahl {
namespace {

bool decides_zero_signs(const Node& node) {
  static const std::set<std::string_view> kDeciding = {// Copies.
                                                       "Identity", "Dropout", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Slice", "Concat",
                                                       "Split", "Expand", "Tile", "Pad", "DepthToSpace", "SpaceToDepth", "ReverseSequence", "Gather",
                                                       "GatherElements", "GatherND", "Trilu", "Where", "Cast",
                                                       // One operand or another.
                                                       "Relu", "ThresholdedRelu", "Clip", "Max", "Min",
                                                       // Of one number.
                                                       "Abs", "Neg", "Floor", "Ceil", "Round", "Sqrt",
                                                       // A product is zero because an operand is.
                                                       "Mul"};
  if (!node.domain.empty()) return false;
  if (node.op == "ScatterElements" || node.op == "ScatterND") return node.attr_string("reduction", "none") == "none";
  return kDeciding.count(node.op) > 0;
}

class Decided {
 public:
  Decided(const Graph& graph, const std::vector<NodeId>& nodes) : graph_(graph) {
    for (NodeId n : nodes)
      for (ValueId v : graph.node(n).outputs) producer_[v] = n;
  }

  bool of(ValueId value) {
    const auto made = producer_.find(value);
    if (made == producer_.end()) return true;  // given, bit by bit
    const auto [known, is_new] = decided_.try_emplace(value, false);
    if (is_new) {
      const Node& node = graph_.node(made->second);
      const bool all = decides_zero_signs(node) && std::all_of(node.inputs.begin(), node.inputs.end(),
                                                               [&](ValueId in) { return in == kNoValue || !is_float(graph_.value(in).dtype) || of(in); });
      decided_[value] = all;
    }
    return decided_[value];
  }

 private:
  const Graph& graph_;
  std::map<ValueId, NodeId> producer_;
  std::map<ValueId, bool> decided_;
};

}  // namespace

bool zero_signs_decided(const Graph& graph, const std::vector<NodeId>& nodes, ValueId value) { return Decided(graph, nodes).of(value); }

}  // namespace amdahl
