#include "playbook/first_plan.h"

#include "playbook/playbook.h"

namespace amdahl {
namespace {

// The rewrite wherever it matches, from the front on.
Plan with_all(const Graph& graph, Plan plan, const Target& target, const Rewrite& rewrite) {
  const Uses uses = uses_of(graph);
  const std::vector<ValueId> storage = storage_of(graph);
  for (size_t s = 0; s < plan.steps.size();) {
    const std::optional<Match> match = rewrite.match(RewriteContext::of(graph, plan, target, uses, storage), static_cast<int>(s), nullptr);
    if (match) plan = replace(graph, plan, match->window, match->replacement);
    else ++s;
  }
  return plan;
}

}  // namespace

Plan first_plan(const Graph& graph, int threads, const Target& target) {
  Plan plan = starter_plan(graph, threads, target);
  const Rewrite& layout = *carry_channels_last();
  if (layout.backend() == target.backend) plan = with_all(graph, std::move(plan), target, layout);
  return plan;
}

}  // namespace amdahl
