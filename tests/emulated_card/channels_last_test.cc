// Networks over channels last as a rewrite makes them, on the emulated card: of those forms that cards of compute capability 8.0 have.

#include <gtest/gtest.h>

#include "playbook/playbook.h"
#include "tests/emulated_card/emulated_bench.h"
#include "tests/playbook/network.h"

namespace amdahl {
namespace {

// An image, pooling, depthwise convolutions with a sum of two branches, a global pooling; the sum is an output.
Graph depthwise_network() {
  testing::Network n(DType::kF16);
  const ValueId x = n.max_pool(n.op("Relu", {n.conv(n.input({2, 3, 21, 34}), 24, 7, 2)}));
  const ValueId sum = n.op("Add", {n.conv(n.op("Relu", {n.conv(x, 24, 3, 1, 24)}), 24, 5, 1, 24), x});
  n.output(sum);
  n.output(n.op("GlobalAveragePool", {n.op("Relu", {n.conv(sum, 24, 3, 2, 24)})}));
  return n.graph;
}

std::optional<Match> first_match(const Graph& graph, const Plan& plan, const Target& target) {
  const Uses uses = uses_of(graph);
  const std::vector<ValueId> storage = storage_of(graph);
  const RewriteContext context = RewriteContext::of(graph, plan, target, uses, storage);
  for (size_t s = 0; s < plan.steps.size(); ++s)
    if (std::optional<Match> match = carry_channels_last()->match(context, static_cast<int>(s), nullptr)) return match;
  return std::nullopt;
}

TEST(ChannelsLastOnEmulatedCard, AreCarriedThroughANetworkThatComputesTheSame) {
  const testing::KernelBench& bench = testing::emulated_bench(testing::Generation::kSm80);
  const Graph graph = depthwise_network();
  Plan plan = starter_plan(graph, 1, bench.target());
  int stretches = 0;
  while (const std::optional<Match> match = first_match(graph, plan, bench.target())) {
    plan = replace(graph, plan, match->window, match->replacement);
    ASSERT_EQ(check(graph, plan), "");
    const testing::Judgement j = testing::judge({"a network", graph, plan, 5}, bench);
    EXPECT_TRUE(j.within) << j.reason;
    ASSERT_LT(++stretches, 5);
  }
  EXPECT_EQ(stretches, 2);
  int conversions = 0;
  for (const Step& s : plan.steps) conversions += s.variant.problem.kind == "reorder";
  EXPECT_EQ(conversions, 1) << "the sum, which is an output";
}

}  // namespace
}  // namespace amdahl
