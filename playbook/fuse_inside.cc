#include "playbook/fuse_inside.h"

#include <algorithm>

#include "playbook/playbook.h"

namespace amdahl {
namespace {

// Numbers of the steps of `plan` that write one of `operands`.
std::set<int> writers_of(const Plan& plan, const std::set<Operand>& operands) {
  std::set<int> steps;
  for (size_t s = 0; s < plan.steps.size(); ++s)
    if (operands.count(plan.steps[s].outputs[0])) steps.insert(static_cast<int>(s));
  return steps;
}

// One fusion that takes steps of `inside` only. An activation that exporters write as x and a function of x (SiLU: x times its sigmoid) becomes one step
// first: until then its convolution has two readers, and neither can be an epilogue.
std::optional<Match> fusion_inside(const RewriteContext& context, const std::set<int>& inside) {
  for (const Rewrite* fusion : {fuse_epilogue(), fuse_pointwise_chain()})
    for (int anchor : inside) {
      std::string refusal;
      const auto match = fusion->match(context, anchor, &refusal);
      if (match && std::includes(inside.begin(), inside.end(), match->window.steps.begin(), match->window.steps.end())) return match;
    }
  return std::nullopt;
}

}  // namespace

Plan with_epilogues_fused(const RewriteContext& context, const std::set<int>& steps, std::set<int>* left) {
  std::set<Operand> written;
  for (int s : steps) written.insert(context.plan.steps[static_cast<size_t>(s)].outputs[0]);
  Plan plan = context.plan;
  *left = steps;
  for (;;) {
    const RewriteContext now = RewriteContext::of(context.graph, plan, context.target, context.uses, context.storage);
    const auto fusion = fusion_inside(now, *left);
    if (!fusion) return plan;
    plan = replace(context.graph, plan, fusion->window, fusion->replacement);
    *left = writers_of(plan, written);
  }
}

}  // namespace amdahl
