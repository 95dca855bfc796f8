#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/hash.h"
#include "graph/clean_up/clean_up_passes.h"

namespace amdahl {
namespace {

// Whether two constants are equal is nearly always decided by their first bytes; the rest is read only then.
constexpr size_t kFirstBytes = 4096;

std::string short_key(const Value& value) {
  return fmt::format("{}{}{}{}", value.varies ? "v" : "", name_of(value.dtype), to_string(value.shape),
                     hash_hex(value.constant->data(), std::min(kFirstBytes, value.constant->bytes())));
}

// Equal constants become one: tied weights that were written twice, and the many copies of 1.0 and axes.
bool merge_constants(Graph& graph, const std::vector<bool>& output, Replacements& replacements) {
  std::unordered_map<std::string, std::vector<ValueId>> alike;  // the distinct ones, by key
  bool changed = false;
  for (size_t v = 0; v < graph.values.size(); ++v) {
    const Value& value = graph.values[v];
    if (!value.constant || output[v]) continue;
    std::vector<ValueId>& others = alike[short_key(value)];
    const auto twin = std::find_if(others.begin(), others.end(), [&](ValueId o) {
      const Tensor& t = *graph.value(o).constant;
      return t.bytes() == 0 || std::memcmp(t.data(), value.constant->data(), t.bytes()) == 0;
    });
    if (twin == others.end()) {
      others.push_back(static_cast<ValueId>(v));
    } else {
      replacements.add(static_cast<ValueId>(v), *twin);
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
