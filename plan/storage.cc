// Nodes that only rename memory, and the storage that a value shares.

#include "plan/plan.h"

namespace amdahl {

bool is_renaming(const Node& node) {
  return node.domain.empty() && (node.op == "Reshape" || node.op == "Flatten" || node.op == "Squeeze" || node.op == "Unsqueeze" || node.op == "Identity");
}

std::vector<ValueId> storage_of(const Graph& graph) {
  std::vector<ValueId> storage(graph.values.size());
  for (size_t v = 0; v < storage.size(); ++v) storage[v] = static_cast<ValueId>(v);
  for (const Node& node : graph.nodes)
    if (is_renaming(node)) storage[static_cast<size_t>(node.outputs[0])] = storage[static_cast<size_t>(node.inputs[0])];
  return storage;
}

bool is_structural(const Value& value) {
  if (value.varies) return false;
  const Tensor& constant = *value.constant;
  const int64_t n = constant.numel();
  const bool bytes = is_byte(constant.dtype());
  if ((!is_float(constant.dtype()) && !bytes) || n < 16) return true;
  // Weights are mostly distinct numbers; masks, one-hot tables and default scales repeat a few.
  const int64_t samples = std::min<int64_t>(n, 1024);
  const size_t width = size_of(constant.dtype());
  std::set<std::string_view> distinct;
  for (int64_t i = 0; i < samples; ++i) {
    const int64_t at = i * (n / samples);
    distinct.insert({reinterpret_cast<const char*>(constant.data()) + static_cast<size_t>(at) * width, width});
  }
  // There are 256 bytes, of which weights have most; positions and tables have few.
  return static_cast<int64_t>(distinct.size()) * 2 <= std::min<int64_t>(samples, bytes ? 64 : samples);
}

}  // namespace amdahl
