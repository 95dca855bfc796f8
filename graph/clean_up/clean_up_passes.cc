#include "graph/clean_up/clean_up_passes.h"

#include <numeric>

namespace amdahl {

Replacements::Replacements(const Graph& graph) : to_(graph.values.size()) { std::iota(to_.begin(), to_.end(), 0); }

void Replacements::add(ValueId from, ValueId to) {
  const auto known = static_cast<ValueId>(to_.size());
  if (from >= known) {  // added to the graph since
    to_.resize(static_cast<size_t>(from) + 1);
    std::iota(to_.begin() + known, to_.end(), known);
  }
  to_[static_cast<size_t>(from)] = to;
}

ValueId Replacements::resolve(ValueId v) const {
  while (v != kNoValue && static_cast<size_t>(v) < to_.size() && to_[static_cast<size_t>(v)] != v) v = to_[static_cast<size_t>(v)];
  return v;
}

void Replacements::apply(Graph& graph) const {
  for (Node& node : graph.nodes)
    for (ValueId& v : node.inputs) v = resolve(v);
}

std::vector<bool> is_output(const Graph& graph) {
  std::vector<bool> out(graph.values.size(), false);
  for (ValueId v : graph.outputs) out[static_cast<size_t>(v)] = true;
  return out;
}

}  // namespace amdahl
