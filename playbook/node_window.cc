#include "playbook/node_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/printable.h"

namespace amdahl {

std::optional<Match> replace_nodes(const RewriteContext& context, const std::set<NodeId>& core, const std::set<NodeId>& absorbed, const Step& fused,
                                   std::string* refusal) {
  const auto refused = [&](std::string reason) {
    if (refusal) *refusal = std::move(reason);
    return std::nullopt;
  };
  std::vector<int> core_steps, movement_steps;
  std::multiset<NodeId> found;
  for (size_t s = 0; s < context.plan.steps.size(); ++s) {
    const Step& step = context.plan.steps[s];
    const auto in = [&](const std::set<NodeId>& set) { return [&](NodeId n) { return set.count(n) > 0; }; };
    const bool has_core = std::any_of(step.nodes.begin(), step.nodes.end(), in(core));
    const bool has_absorbed = std::any_of(step.nodes.begin(), step.nodes.end(), in(absorbed));
    if (!has_core && !has_absorbed) continue;
    const bool all = std::all_of(step.nodes.begin(), step.nodes.end(), [&](NodeId n) { return core.count(n) || absorbed.count(n); });
    if (has_core && !all) return refused("a step of the pattern computes other nodes too");
    if (has_core) core_steps.push_back(static_cast<int>(s));
    else if (all) movement_steps.push_back(static_cast<int>(s));
    std::copy_if(step.nodes.begin(), step.nodes.end(), std::inserter(found, found.end()), in(core));
  }
  if (found.size() != core.size()) return refused("the plan does not compute every node of the pattern exactly once");

  std::set<int> inside(core_steps.begin(), core_steps.end());
  inside.insert(movement_steps.begin(), movement_steps.end());
  const auto escapes = [&](const Operand& o) {
    if (context.is_graph_output(o)) return true;
    const auto it = context.readers.find(o);
    return it != context.readers.end() && std::any_of(it->second.begin(), it->second.end(), [&](int r) { return !inside.count(r); });
  };
  Match match;
  for (int s : core_steps)
    for (const Operand& o : context.plan.steps[static_cast<size_t>(s)].outputs)
      if (escapes(o) && !std::count(fused.outputs.begin(), fused.outputs.end(), o))
        return refused(fmt::format("'{}' is read elsewhere too", shown(context.graph.value(o.value).name)));
  // Backwards: a movement step that stays keeps those that it reads.
  std::vector<Step> kept;
  const auto is_read = [&](const Operand& o, const Step& by) { return std::count(by.inputs.begin(), by.inputs.end(), o) > 0; };
  for (size_t i = movement_steps.size(); i-- > 0;) {
    const Step& step = context.plan.steps[static_cast<size_t>(movement_steps[i])];
    const bool stays = std::any_of(step.outputs.begin(), step.outputs.end(), [&](const Operand& o) {
      if (std::count(fused.outputs.begin(), fused.outputs.end(), o)) return false;  // written by the fused step itself
      return escapes(o) || is_read(o, fused) || std::any_of(kept.begin(), kept.end(), [&](const Step& k) { return is_read(o, k); });
    });
    if (stays) kept.insert(kept.begin(), step);
  }
  match.window.steps.assign(inside.begin(), inside.end());
  match.replacement = std::move(kept);
  match.replacement.push_back(fused);
  return match;
}

void open_knobs(const RewriteContext& context, Match& match, size_t step, const std::vector<std::string>& knobs) {
  const Variant& variant = match.replacement[step].variant;
  const SearchSpace space = context.target.space(variant.problem);
  for (const std::string& name : knobs)
    if (const Knob* knob = space.find(name); knob && knob->values.size() > 1) match.search.push_back({static_cast<int>(step), knob->name, knob->values});
}

}  // namespace amdahl
