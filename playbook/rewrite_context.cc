#include <algorithm>

#include "playbook/rewrite.h"

namespace amdahl {

RewriteContext RewriteContext::of(const Graph& graph, const Plan& plan, const Target& target, const Uses& uses, const std::vector<ValueId>& storage) {
  RewriteContext context{graph, plan, target, uses, storage, {}, {}, {}, {}};
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const int step = static_cast<int>(s);
    for (const Operand& operand : plan.steps[s].inputs) {
      std::vector<int>& readers = context.readers[operand];
      if (readers.empty() || readers.back() != step) readers.push_back(step);  // once, however often a step reads it
    }
    for (const Operand& operand : plan.steps[s].outputs) context.writer[operand] = step;
    const Variant& v = plan.steps[s].variant;
    if (!v.source_override.empty()) continue;
    if (!v.flags.empty() || v.knobs != target.space(v.problem).starters()) context.tuned[v.problem.kind].push_back(step);
  }
  return context;
}

bool RewriteContext::is_graph_output(const Operand& operand) const {
  return std::any_of(graph.outputs.begin(), graph.outputs.end(), [&](ValueId v) { return storage[static_cast<size_t>(v)] == operand.value; });
}

int RewriteContext::sole_consumer(int step) const {
  const Step& of = plan.steps[static_cast<size_t>(step)];
  if (of.outputs.size() != 1 || is_graph_output(of.outputs[0])) return -1;
  const auto found = readers.find(of.outputs[0]);
  return found != readers.end() && found->second.size() == 1 ? found->second[0] : -1;
}

}  // namespace amdahl
