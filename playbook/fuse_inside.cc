#include "playbook/fuse_inside.h"

#include <algorithm>
#include <set>

#include "playbook/playbook.h"

namespace amdahl {
namespace {

// Numbers of the steps of `plan` that write one of `operands`.
std::vector<int> writers_of(const Plan& plan, const std::set<Operand>& operands) {
  std::vector<int> steps;
  for (size_t s = 0; s < plan.steps.size(); ++s)
    if (operands.count(plan.steps[s].outputs[0])) steps.push_back(static_cast<int>(s));
  return steps;
}

// One fusion inside `operands`' steps, or nothing.
std::optional<Match> fusion_inside(const RewriteContext& context, const std::vector<int>& inside) {
  for (int anchor : inside) {
    std::string refusal;
    const auto match = fuse_epilogue()->match(context, anchor, &refusal);
    if (match && std::includes(inside.begin(), inside.end(), match->window.steps.begin(), match->window.steps.end())) return match;
  }
  return std::nullopt;
}

}  // namespace

Match with_epilogues_fused(const RewriteContext& context, Match match) {
  std::set<Operand> written;
  for (const Step& step : match.replacement) written.insert(step.outputs[0]);
  Plan plan = replace(context.graph, context.plan, match.window, match.replacement);
  for (;;) {
    const RewriteContext now = RewriteContext::of(context.graph, plan, context.machine, context.uses, context.storage);
    const auto fusion = fusion_inside(now, writers_of(plan, written));
    if (!fusion) break;
    plan = replace(context.graph, plan, fusion->window, fusion->replacement);
  }
  match.replacement.clear();
  for (int s : writers_of(plan, written)) match.replacement.push_back(plan.steps[static_cast<size_t>(s)]);
  return match;
}

}  // namespace amdahl
