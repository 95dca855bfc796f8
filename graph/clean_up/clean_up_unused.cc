#include <set>
#include <string_view>

#include "graph/clean_up/clean_up_passes.h"
#include "graph/recurrence_nodes.h"

namespace amdahl {
namespace {

// Outputs from the second on, or all of a recurrence, may be left out. Everywhere else (Split, TopK) the number of outputs is part of the meaning.
bool rest_is_optional(const Node& node) {
  static const std::set<std::string_view> kOps = {"Dropout",
                                                  "MaxPool",
                                                  "BatchNormalization",
                                                  "LayerNormalization",
                                                  "Attention",
                                                  "SoftmaxCrossEntropyLoss",
                                                  "SkipLayerNormalization",
                                                  "SkipSimplifiedLayerNormalization"};
  return is_recurrence(node) || kOps.count(node.op) > 0;
}

// Drops absent optional outputs; true when there were any.
bool trim_outputs(Node& node, const std::vector<bool>& read) {
  if (!rest_is_optional(node)) return false;
  bool changed = false;
  for (size_t i = is_recurrence(node) ? 0 : 1; i < node.outputs.size(); ++i) {
    ValueId& v = node.outputs[i];
    if (v != kNoValue && !read[static_cast<size_t>(v)]) {
      v = kNoValue;
      changed = true;
    }
  }
  while (node.outputs.size() > 1 && node.outputs.back() == kNoValue) node.outputs.pop_back();
  return changed;
}

// Gemm leaves C out where beta is zero, whatever C holds; true when it was named.
bool trim_inputs(Node& node) {
  if (node.op != "Gemm" || !node.domain.empty() || node.inputs.size() < 3 || node.attr_float("beta", 1) != 0) return false;
  node.inputs.resize(2);
  return true;
}

bool renumber(Graph& graph, const std::vector<bool>& kept) {
  std::vector<ValueId> number(graph.values.size(), kNoValue);
  std::vector<Value> values;
  for (size_t v = 0; v < graph.values.size(); ++v) {
    if (!kept[v]) continue;
    number[v] = static_cast<ValueId>(values.size());
    values.push_back(std::move(graph.values[v]));
  }
  const bool changed = values.size() != graph.values.size();
  graph.values = std::move(values);
  const auto rename = [&](std::vector<ValueId>& list) {
    for (ValueId& v : list)
      if (v != kNoValue) v = number[static_cast<size_t>(v)];
  };
  for (Node& node : graph.nodes) {
    rename(node.inputs);
    rename(node.outputs);
  }
  rename(graph.inputs);
  rename(graph.outputs);
  return changed;
}

}  // namespace

bool drop_unused(Graph& graph) {
  std::vector<bool> read = is_output(graph);
  std::vector<Node> kept;
  bool changed = false;
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    Node& node = graph.nodes[n];
    bool needed = false;
    for (ValueId v : node.outputs) needed |= v != kNoValue && read[static_cast<size_t>(v)];
    if (!needed) continue;
    changed |= trim_outputs(node, read);
    changed |= trim_inputs(node);
    for (ValueId v : node.inputs)
      if (v != kNoValue) read[static_cast<size_t>(v)] = true;
    kept.push_back(std::move(node));
  }
  changed |= kept.size() != graph.nodes.size();
  graph.nodes.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
  // Inputs are the model's interface: they stay, read or not.
  for (ValueId v : graph.inputs) read[static_cast<size_t>(v)] = true;
  for (const Node& node : graph.nodes)
    for (ValueId v : node.outputs)
      if (v != kNoValue) read[static_cast<size_t>(v)] = true;
  return renumber(graph, read) || changed;
}

}  // namespace amdahl
