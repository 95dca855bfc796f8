#include "playbook/first_plan.h"

#include <algorithm>

#include "playbook/playbook.h"
#include "starter_kernels/kinds/formats.h"
#include "starter_kernels/kinds/kind_names.h"

namespace amdahl {
namespace {

std::optional<Match> first_match(const Graph& graph, const Plan& plan, const Target& target, const Rewrite& rewrite) {
  const Uses uses = uses_of(graph);
  const std::vector<ValueId> storage = storage_of(graph);
  const RewriteContext context = RewriteContext::of(graph, plan, target, uses, storage);
  for (size_t s = 0; s < plan.steps.size(); ++s)
    if (std::optional<Match> match = rewrite.match(context, static_cast<int>(s), nullptr)) return match;
  return std::nullopt;
}

// The rewrite wherever it matches, from the front on: each time anew, as a match may take steps before it along.
Plan with_all(const Graph& graph, Plan plan, const Target& target, const Rewrite& rewrite) {
  while (const std::optional<Match> match = first_match(graph, plan, target, rewrite)) plan = replace(graph, plan, match->window, match->replacement);
  return plan;
}

// Neighbours have joined: two convolutions or more in the format for a conversion that is left. A single one between conversions is not what somebody would
// write, and may be slower: that is for the search to find out.
bool is_carried_far(const Plan& plan) {
  const auto in_a_format = [&](std::string_view kind) {
    return std::count_if(plan.steps.begin(), plan.steps.end(), [&](const Step& s) { return s.variant.problem.kind == kind && has_formats(s.variant.problem); });
  };
  return in_a_format(kind::kConv) >= 2 * in_a_format(kind::kReorder);
}

}  // namespace

Plan first_plan(const Graph& graph, int threads, const Target& target) {
  Plan plan = starter_plan(graph, threads, target);
  const Rewrite& layout = *carry_channels_last();
  if (layout.backend() != target.backend) return plan;
  Plan carried = with_all(graph, plan, target, layout);
  return is_carried_far(carried) ? std::move(carried) : std::move(plan);
}

}  // namespace amdahl
