// Equal windows that follow one another: each stage of ResNet-50 is a chain of equal blocks.

#include "tuner/search/opportunity.h"

#include <gtest/gtest.h>

#include "graph/models/load_model.h"
#include "playbook/playbook.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "starter_kernels/examples/example_graph.h"

namespace amdahl {
namespace {

TEST(ApplyEverywhere, ABlockedRegionGoesToEveryBlockOfAChain) {
  const Graph graph = load_model("builtin:resnet50", {});
  const Plan plan = starter_plan(graph, 1, cpu_target());
  Profile profile;
  profile.steps.resize(plan.steps.size());
  size_t longest = 0;
  for (const Opportunity& o : find_opportunities(graph, plan, profile, {carry_blocked_layout()}, cpu_target())) {
    int applied = 0;
    const Plan next = apply_everywhere(graph, plan, o.windows, o.match.replacement, &applied);
    EXPECT_EQ(check(graph, next), "");
    EXPECT_EQ(static_cast<size_t>(applied), o.windows.size()) << o.describe(plan);
    longest = std::max(longest, o.windows.size());
  }
  EXPECT_GE(longest, 4u);
}

// 16 MiB are read and 16 written, whose lines are read first: 50.3 MB.
TEST(FindOpportunities, StreamsAResultOfTheModelThatIsMovedNoFasterThanMemory) {
  ExampleGraph alone("alone");
  const Graph graph = alone.finish({alone.node("Exp", {alone.input({1024, 4096})})});
  const Plan plan = starter_plan(graph, 1, cpu_target());
  Target target = cpu_target();
  target.device.l2_bytes = 1 << 20;
  target.device.l3_bytes = 64 << 20;
  Profile profile;
  profile.steps.resize(1);
  const auto offers_at = [&](double seconds, double memory_gbs) {
    profile.steps[0].seconds = seconds;
    profile.memory_gbs = memory_gbs;
    return find_opportunities(graph, plan, profile, {find_rewrite("use_streaming_stores")}, target).size();
  };
  EXPECT_EQ(offers_at(1.0e-3, 50), 0u);
  EXPECT_EQ(offers_at(1.1e-3, 50), 1u);
  EXPECT_EQ(offers_at(1.1e-3, 0), 0u) << "nothing is known of this machine's memory";
}

}  // namespace
}  // namespace amdahl
