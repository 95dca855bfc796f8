#include "graph/node_upgrade.h"

#include <vector>

namespace amdahl {

void NodeUpgrade::put(size_t i, ValueId v) {
  if (node.inputs.size() <= i) node.inputs.resize(i + 1, kNoValue);
  node.inputs[i] = v;
}

void NodeUpgrade::ints_to_input(const std::string& name, size_t i) {
  if (!node.has(name)) return;
  const std::vector<int64_t> ints = node.attr_ints(name);
  put(i, write.constant(name, from_ints(DType::kI64, {static_cast<int64_t>(ints.size())}, ints)));
  node.attributes.erase(name);
}

void NodeUpgrade::float_to_input(const std::string& name, size_t i, double otherwise) {
  put(i, write.constant(name, from_doubles(graph.value(node.inputs[0]).dtype, {}, {node.attr_float(name, otherwise)})));
  node.attributes.erase(name);
}

void axes_to_input(NodeUpgrade& u) { u.ints_to_input("axes", 1); }

}  // namespace amdahl
