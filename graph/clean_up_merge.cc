#include <fmt/format.h>

#include <unordered_map>

#include "base/hash.h"
#include "graph/clean_up_passes.h"

namespace amdahl {
namespace {

// Equal constants become one: tied weights that were written twice, and the many copies of 1.0 and axes.
bool merge_constants(Graph& graph, const std::vector<bool>& output, Replacements& replacements) {
  std::unordered_map<std::string, std::vector<ValueId>> alike;  // by type
  for (size_t v = 0; v < graph.values.size(); ++v) {
    const Value& value = graph.values[v];
    if (value.constant && !output[v])
      alike[fmt::format("{}{}", name_of(value.dtype), to_string(value.shape))].push_back(static_cast<ValueId>(v));
  }
  bool changed = false;
  for (const auto& [type, values] : alike) {
    if (values.size() < 2) continue;  // most weights need not be read for this
    std::unordered_map<std::string, ValueId> first;
    for (ValueId v : values) {
      const Tensor& t = *graph.value(v).constant;
      const auto [entry, fresh] = first.emplace(hash_hex(t.data(), t.bytes()), v);
      if (fresh) continue;
      replacements.add(v, entry->second);
      changed = true;
    }
  }
  return changed;
}

std::string key_of(const Node& node) {
  std::string key = fmt::format("{}:{}:{}:{}", node.domain, node.op, node.version, node.outputs.size());
  for (const auto& [name, value] : node.attributes) key += fmt::format("|{}={}", name, to_text(value));
  for (ValueId v : node.inputs) key += fmt::format(",{}", v);
  return key;
}

}  // namespace

bool merge_equal(Graph& graph) {
  const std::vector<bool> output = is_output(graph);
  Replacements replacements(graph);
  bool changed = merge_constants(graph, output, replacements);
  std::unordered_map<std::string, NodeId> first;
  std::vector<bool> merged(graph.nodes.size(), false);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    Node& node = graph.nodes[n];
    for (ValueId& v : node.inputs) v = replacements.resolve(v);
    const auto [entry, fresh] = first.emplace(key_of(node), static_cast<NodeId>(n));
    if (fresh) continue;
    const Node& twin = graph.node(entry->second);
    bool replaceable = true;  // outputs of the model keep their own producer; so does what the twin does not produce
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId v = node.outputs[i];
      replaceable &= v == kNoValue || (!output[static_cast<size_t>(v)] && twin.outputs[i] != kNoValue);
    }
    if (!replaceable) continue;
    for (size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i] != kNoValue) replacements.add(node.outputs[i], twin.outputs[i]);
    merged[n] = changed = true;
  }
  if (!changed) return false;
  std::vector<Node> kept;
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    if (!merged[n]) kept.push_back(std::move(graph.nodes[n]));
  graph.nodes = std::move(kept);
  return true;
}

}  // namespace amdahl
