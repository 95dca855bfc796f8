#include <fmt/format.h>

#include "graph/onnx/refusals.h"
#include "graph/op.h"
#include "plan/plan.h"
#include "plan/quantized_steps.h"

namespace amdahl {

Plan starter_plan(const Graph& graph, int threads, const Target& target) {
  const std::vector<ValueId> storage = storage_of(graph);
  Plan plan;
  plan.threads = threads;
  Refusals refusals;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (is_renaming(node)) continue;
    try {
      Lowering lowering = lower_node(graph, node, threads, target);
      Step step;
      step.nodes = {static_cast<NodeId>(n)};
      for (ValueId v : lowering.inputs) step.inputs.push_back({storage[static_cast<size_t>(v)], ""});
      for (ValueId v : lowering.outputs) step.outputs.push_back({storage[static_cast<size_t>(v)], ""});
      step.variant = std::move(lowering.variant);
      plan.steps.push_back(std::move(step));
    } catch (const Refusal& refusal) {
      refusals.add(operator_text(node.domain, node.op, node.version), "node", node.name, refusal.what());
    }
  }
  refusals.raise();
  join_quantized_steps(graph, target, plan);
  return plan;
}

std::string check(const Graph& graph, const Plan& plan) {
  const std::vector<ValueId> storage = storage_of(graph);
  std::set<Operand> there;
  for (ValueId v : graph.inputs) there.insert({storage[static_cast<size_t>(v)], ""});
  const auto is_there = [&](const Operand& o) { return graph.is_constant(o.value) || there.count(o) > 0; };
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const Step& step = plan.steps[s];
    if (step.inputs.size() != step.variant.problem.in.size() || step.outputs.size() != step.variant.problem.out.size())
      return fmt::format("step {} has {} inputs and {} outputs, its problem {} and {}", s, step.inputs.size(), step.outputs.size(),
                         step.variant.problem.in.size(), step.variant.problem.out.size());
    for (const Operand& o : step.inputs)
      if (!is_there(o)) return fmt::format("step {} reads value {} before it is written", s, o.value);
    for (const Operand& o : step.outputs)
      if (!there.insert(o).second) return fmt::format("step {} writes value {} again", s, o.value);
  }
  for (ValueId v : graph.outputs)
    if (!is_there({storage[static_cast<size_t>(v)], ""})) return fmt::format("output value {} is not written", v);
  return "";
}

}  // namespace amdahl
