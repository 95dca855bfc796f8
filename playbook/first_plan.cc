#include "playbook/first_plan.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "playbook/playbook.h"
#include "starter_kernels/kinds/formats.h"
#include "starter_kernels/kinds/kind_names.h"

namespace amdahl {
namespace {

// The rewrite wherever it matches, from the front on, until it matches nowhere: a match may take steps before it along, and what is fused may fuse again.
// `wanted(match)`: whether it is taken.
template <typename Wanted>
Plan with_all(const Graph& graph, Plan plan, const Target& target, const Rewrite& rewrite, Wanted wanted) {
  const Uses uses = uses_of(graph);
  const std::vector<ValueId> storage = storage_of(graph);
  for (bool changed = true; std::exchange(changed, false);) {
    auto context = std::make_unique<RewriteContext>(RewriteContext::of(graph, plan, target, uses, storage));
    for (size_t s = 0; s < plan.steps.size(); ++s) {
      const std::optional<Match> match = rewrite.match(*context, static_cast<int>(s), nullptr);
      if (!match || !wanted(*match)) continue;
      s = static_cast<size_t>(*std::min_element(match->window.steps.begin(), match->window.steps.end()));
      plan = replace(graph, plan, match->window, match->replacement);
      context = std::make_unique<RewriteContext>(RewriteContext::of(graph, plan, target, uses, storage));
      changed = true;
    }
  }
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

// What somebody who writes for a card fuses before measuring anything: every step is a launch, 1 us beside products of 4. In this order: what is recognised by
// the steps that others would take into themselves comes before them.
const std::vector<const Rewrite*>& fused_from_the_start() {
  static const std::vector<const Rewrite*> rewrites{fuse_attention(),       read_pieces(),   fuse_rope(),      fuse_layernorm(), fuse_rmsnorm(),
                                                    fuse_pointwise_chain(), fuse_epilogue(), write_in_place(), read_in_place()};
  return rewrites;
}

}  // namespace

Plan first_plan(const Graph& graph, int threads, const Target& target) {
  Plan plan = starter_plan(graph, threads, target);
  const Rewrite& layout = *carry_channels_last();
  if (layout.backend() != target.backend) return plan;
  const auto any = [](const Match&) { return true; };
  const auto has_fewer_steps = [](const Match& m) { return m.replacement.size() < m.window.steps.size(); };
  if (Plan carried = with_all(graph, plan, target, layout, any); is_carried_far(carried)) plan = std::move(carried);
  for (const Rewrite* rewrite : fused_from_the_start()) plan = with_all(graph, plan, target, *rewrite, has_fewer_steps);
  return with_all(graph, std::move(plan), target, *fuse_gelu(), any);  // of what a step computes
}

}  // namespace amdahl
