#include "tuner/search/applied_everywhere.h"

#include <utility>

#include "tuner/search/opportunity.h"

namespace amdahl {
namespace {

// The first offer that changes the plan, applied; false when there is none.
bool apply_one(const Graph& graph, Plan& plan, const Rewrite& rewrite, const Target& target) {
  Profile unmeasured;
  unmeasured.steps.resize(plan.steps.size());
  for (const Opportunity& o : find_opportunities(graph, plan, unmeasured, {&rewrite}, target)) {
    int applied = 0;
    Plan next = apply_everywhere(graph, plan, o.windows, o.match.replacement, &applied);
    if (applied == 0 || Json(next) == Json(plan)) continue;
    plan = std::move(next);
    return true;
  }
  return false;
}

}  // namespace

Plan applied_everywhere(const Graph& graph, Plan plan, const std::vector<const Rewrite*>& rewrites, const Target& target) {
  for (const Rewrite* rewrite : rewrites)
    while (apply_one(graph, plan, *rewrite, target)) {
    }
  return plan;
}

}  // namespace amdahl
