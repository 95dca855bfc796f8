// Equal windows that follow one another: each stage of ResNet-50 is a chain of equal blocks.

#include "tuner/opportunity.h"

#include <gtest/gtest.h>

#include "graph/onnx_load.h"
#include "playbook/playbook.h"

namespace amdahl {
namespace {

TEST(ApplyEverywhere, ABlockedRegionGoesToEveryBlockOfAChain) {
  const Graph graph = load_model("builtin:resnet50", {});
  const Plan plan = starter_plan(graph, 1);
  Profile profile;
  profile.steps.resize(plan.steps.size());
  size_t longest = 0;
  for (const Opportunity& o : find_opportunities(graph, plan, profile, {carry_blocked_layout()}, this_machine())) {
    int applied = 0;
    const Plan next = apply_everywhere(graph, plan, o.windows, o.match.replacement, &applied);
    EXPECT_EQ(check(graph, next), "");
    EXPECT_EQ(static_cast<size_t>(applied), o.windows.size()) << o.describe(plan);
    longest = std::max(longest, o.windows.size());
  }
  EXPECT_GE(longest, 4u);
}

}  // namespace
}  // namespace amdahl
