#pragma once
// Steps over channels last between reorders, as a rewrite would put them.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tests/plan/made_plans.h"
#include "tests/starter_kernels/channels_last.h"

namespace amdahl::testing {

inline Step reorder_step_on_card(const Graph& graph, ValueId value, const std::string& from, const std::string& to, const Target& target) {
  Step step = reorder_step(graph, value, from, to, 1);
  step.variant.knobs = target.space(step.variant.problem).starters();
  return step;
}

// The graph as one step over channels last, or nothing where the target has no form of it.
inline std::optional<Case> case_channels_last(const Graph& graph, const Target& target, bool plain_output = false) {
  const std::vector<Step> steps = starter_plan(graph, 1, target).steps;
  Step step = with_epilogues(steps.at(0), {steps.begin() + 1, steps.end()});
  Variant& variant = step.variant;
  const auto problem = on_channels_last(variant.problem, plain_output);
  if (!problem) return std::nullopt;
  variant.problem = *problem;
  const SearchSpace space = target.space(*problem);
  variant.knobs = space.starters();
  if (!space.refuse(variant.knobs).empty()) return std::nullopt;
  const std::string last(kChannelsLast);
  Case made{graph.name + (plain_output ? ", channels last to row-major" : ", channels last"), graph};
  made.plan = starter_plan(graph, 1, target);
  made.plan.steps.clear();
  std::vector<ValueId> turned;
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    step.inputs[i].format = format_of_input(*problem, i);
    const ValueId value = step.inputs[i].value;
    if (step.inputs[i].format.empty() || std::count(turned.begin(), turned.end(), value)) continue;
    made.plan.steps.push_back(reorder_step_on_card(graph, value, "", last, target));
    turned.push_back(value);
  }
  for (size_t i = 0; i < step.outputs.size(); ++i) step.outputs[i].format = format_of_output(*problem, i);
  made.plan.steps.push_back(step);
  for (const Operand& output : step.outputs)
    if (!output.format.empty()) made.plan.steps.push_back(reorder_step_on_card(graph, output.value, last, "", target));
  return made;
}

// Of a kind; of reorders what stands between some.
inline std::vector<Case> cases_channels_last(const KernelKind& kind, const Target& target) {
  std::vector<Case> cases;
  const auto add = [&](Case made) {
    made.seed = 211 + cases.size();
    cases.push_back(std::move(made));
  };
  const bool reorders = kind.name() == kind::kReorder;
  const std::vector<Graph> graphs = graphs_channels_last(reorders ? kind::kPool : kind.name(), target);
  for (const Graph& graph : graphs) add(case_channels_last(graph, target).value());
  if (reorders || graphs.empty()) return cases;
  for (const Graph& graph : kind.examples())
    if (graph.nodes.size() == 1)
      if (std::optional<Case> made = case_channels_last(graph, target)) add(*std::move(made));
  if (kind.name() == kind::kPool)
    for (const Graph& graph : graphs)
      if (graph.nodes[0].op.starts_with("Global")) add(case_channels_last(graph, target, true).value());
  return cases;
}

}  // namespace amdahl::testing
