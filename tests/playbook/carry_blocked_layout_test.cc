// The blocked layout carried through a small network with everything that a region meets: an image, pooling, a residual
// sum, depthwise, a gate by channel, an output in the middle, channels that fill no block.

#include <gtest/gtest.h>

#include <algorithm>

#include "playbook/playbook.h"
#include "starter_kernels/cpu/conv_algorithms.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "tests/plan/kernel_bench.h"
#include "tests/playbook/network.h"

namespace amdahl {
namespace {

using testing::Network;
using testing::residual_network;

std::optional<Match> match_at(const Graph& graph, const Plan& plan, int anchor, std::string* refusal) {
  const Uses uses = uses_of(graph);
  const std::vector<ValueId> storage = storage_of(graph);
  return carry_blocked_layout()->match(RewriteContext::of(graph, plan, cpu_target(), uses, storage), anchor, refusal);
}

std::vector<int> anchors(const Graph& graph, const Plan& plan) {
  std::vector<int> found;
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    std::string refusal;
    if (match_at(graph, plan, static_cast<int>(s), &refusal)) found.push_back(static_cast<int>(s));
    else EXPECT_NE(refusal, "");
  }
  return found;
}

// Carries the layout through the stretches that are left, one after the other: the first (or the last) of them each time.
Plan carry_all(const Graph& graph, Plan plan, bool last_first, int* stretches) {
  for (*stretches = 0; *stretches < 10; ++*stretches) {
    const std::vector<int> left = anchors(graph, plan);
    if (left.empty()) break;
    std::string refusal;
    const auto match = match_at(graph, plan, last_first ? left.back() : left.front(), &refusal);
    plan = replace(graph, plan, match->window, match->replacement);
    EXPECT_EQ(check(graph, plan), "");
    const testing::Judgement j = testing::judge(graph, plan, 3);
    EXPECT_TRUE(j.within) << j.reason;
  }
  return plan;
}

int conversions_of(const Plan& plan) {
  return static_cast<int>(std::count_if(plan.steps.begin(), plan.steps.end(), [](const Step& s) { return s.variant.problem.kind == "reorder"; }));
}

TEST(CarryBlockedLayout, ComputesTheSameNetworkStretchByStretch) {
  const Graph graph = residual_network();
  for (const bool last_first : {false, true}) {
    int stretches = 0;
    const Plan carried = carry_all(graph, starter_plan(graph, 2, cpu_target()), last_first, &stretches);
    EXPECT_EQ(stretches, 2);
    // The image is read as it is and the last pooling writes row-major. Nothing is converted between the stretches; the
    // one conversion is the output in the middle.
    EXPECT_EQ(conversions_of(carried), 1);
  }
}

TEST(CarryBlockedLayout, AStretchEndsWhereBranchesJoin) {
  const Graph graph = residual_network();
  const Plan plan = starter_plan(graph, 1, cpu_target());
  const std::vector<int> starts = anchors(graph, plan);
  ASSERT_EQ(starts.size(), 2u);
  EXPECT_EQ(starts[0], 0);
  std::string refusal;
  const auto match = match_at(graph, plan, 0, &refusal);
  ASSERT_TRUE(match) << refusal;
  const Step& join = plan.steps[static_cast<size_t>(match->window.steps.back())];
  EXPECT_EQ(graph.node(join.nodes.back()).op, "Add");
}

TEST(CarryBlockedLayout, ThreeByThreeBecomesWinogradsWhereThatSaves) {
  Network n;
  const ValueId wide = n.conv(n.input({1, 16, 12, 12}), 16, 3, 1);  // 36 tiles; below, 9: too few for their weights
  n.output(n.conv(n.conv(wide, 16, 3, 2), 16, 3, 1));
  const Plan plan = starter_plan(n.graph, 1, cpu_target());
  std::string refusal;
  const auto match = match_at(n.graph, plan, 0, &refusal);
  ASSERT_TRUE(match) << refusal;
  std::vector<int64_t> algorithms;
  for (const Step& step : match->replacement)
    if (step.variant.problem.kind == "conv") algorithms.push_back(step.variant.knobs.at("ALGORITHM"));
  EXPECT_EQ(algorithms, (std::vector<int64_t>{kConvWinograd, kConvBlocked, kConvBlocked}));
}

TEST(CarryBlockedLayout, IsOfferedWithoutWinogradToo) {
  Network n;
  n.output(n.conv(n.input({1, 32, 12, 12}), 32, 3, 1));
  Plan plan = starter_plan(n.graph, 1, cpu_target());
  std::string refusal;
  const auto declared = [](const std::vector<Step>& steps) {
    for (const Step& s : steps)
      if (s.variant.problem.kind == "conv") return declared_algorithm(s.variant.problem);
    return std::string("no convolution");
  };
  const auto match = match_at(n.graph, plan, 0, &refusal);
  ASSERT_TRUE(match) << refusal;
  EXPECT_EQ(declared(match->replacement), "winograd_f23");
  ASSERT_EQ(match->others.size(), 1u);
  EXPECT_EQ(declared(match->others[0]), "");
  const Plan direct = replace(n.graph, plan, match->window, match->others[0]);
  EXPECT_EQ(check(n.graph, direct), "");
  // What the search has found stays.
  declare_algorithm(plan.steps[0].variant.problem, "winograd_f43");
  EXPECT_EQ(declared(match_at(n.graph, plan, 0, &refusal)->replacement), "winograd_f43");
}

// 9 tiles of 4 x 4 outputs are not cut as 36 of 2 x 2 were.
TEST(UseWinograd, BeginsWithTheBlocksThatCountFewestCycles) {
  Network n;
  n.output(n.conv(n.input({1, 32, 12, 12}), 32, 3, 1));
  Plan plan = starter_plan(n.graph, 2, cpu_target());
  std::string refusal;
  const auto carried = match_at(n.graph, plan, 0, &refusal);
  ASSERT_TRUE(carried) << refusal;
  plan = replace(n.graph, plan, carried->window, carried->replacement);
  const auto conv = std::find_if(plan.steps.begin(), plan.steps.end(), [](const Step& s) { return s.variant.problem.kind == "conv"; });
  const Uses uses = uses_of(n.graph);
  const std::vector<ValueId> storage = storage_of(n.graph);
  const auto match =
      use_winograd_f43()->match(RewriteContext::of(n.graph, plan, cpu_target(), uses, storage), static_cast<int>(conv - plan.steps.begin()), &refusal);
  ASSERT_TRUE(match) << refusal;
  const Variant& variant = match->replacement[0].variant;
  const SearchSpace space = cpu_target().space(variant.problem);
  EXPECT_EQ(space.refuse(variant.knobs), "");
  for (const Match::OpenKnob& open : match->search)
    for (int64_t value : open.values) {
      Knobs other = variant.knobs;
      other[open.name] = value;
      if (space.refuse(other).empty()) EXPECT_GE(space.cycles(other), space.cycles(variant.knobs)) << open.name << " = " << value;
    }
}

// Both have a PX: of Winograd's products here, of the convolution itself there.
TEST(AdoptKnobs, AWinogradsTileIsNotOfferedToADirectConvolution) {
  Network n;
  const ValueId narrow = n.conv(n.conv(n.input({1, 32, 12, 12}), 32, 3, 1), 64, 1, 1);
  n.output(n.conv(narrow, 32, 1, 1));
  Plan plan = starter_plan(n.graph, 2, cpu_target());
  std::string refusal;
  const auto carried = match_at(n.graph, plan, 0, &refusal);
  ASSERT_TRUE(carried) << refusal;
  plan = replace(n.graph, plan, carried->window, carried->replacement);
  std::vector<int> convs;
  for (size_t s = 0; s < plan.steps.size(); ++s)
    if (plan.steps[s].variant.problem.kind == "conv") convs.push_back(static_cast<int>(s));
  ASSERT_EQ(convs.size(), 3u);
  const auto knobs_of = [&](int conv) -> Knobs& { return plan.steps[static_cast<size_t>(convs[static_cast<size_t>(conv)])].variant.knobs; };
  const auto offered = [&](int conv) {
    const Uses uses = uses_of(n.graph);
    const std::vector<ValueId> storage = storage_of(n.graph);
    return adopt_knobs()->match(RewriteContext::of(n.graph, plan, cpu_target(), uses, storage), convs[static_cast<size_t>(conv)], &refusal);
  };
  knobs_of(0)["ALGORITHM"] = kConvWinograd;
  knobs_of(0)["PX"] = 1;
  EXPECT_FALSE(offered(1));
  EXPECT_FALSE(offered(2));
  knobs_of(1)["PX"] = 2;
  const auto from_its_like = offered(2);
  ASSERT_TRUE(from_its_like) << refusal;
  EXPECT_EQ(from_its_like->replacement[0].variant.knobs.at("PX"), 2);
}

TEST(CarryBlockedLayout, AChainWithoutJoinsIsCut) {
  Network n;
  ValueId x = n.input({1, 16, 6, 6});
  for (int i = 0; i < 9; ++i) x = n.op("Relu", {n.conv(x, 16, 3, 1)});
  n.output(x);
  EXPECT_EQ(anchors(n.graph, starter_plan(n.graph, 1, cpu_target())).size(), 2u);
  int stretches = 0;
  EXPECT_EQ(conversions_of(carry_all(n.graph, starter_plan(n.graph, 1, cpu_target()), false, &stretches)), 2);  // in and out
  EXPECT_EQ(stretches, 2);
}

// Two convolutions of one size with an operator between.
Graph pair_of_convolutions(const std::string& between, int64_t channels) {
  Network n;
  const ValueId x = n.op(between, {n.conv(n.input({1, channels, 6, 6}), channels, 3, 1)});
  n.output(n.conv(x, channels, 3, 1));
  return n.graph;
}

// The plan with the first convolution's stretch carried; `steps`: what belongs to that. Checks that it computes the same.
Plan first_carried(const Graph& graph, std::vector<int>* steps) {
  const Plan plan = starter_plan(graph, 1, cpu_target());
  std::string refusal;
  const auto match = match_at(graph, plan, 0, &refusal);
  EXPECT_TRUE(match) << refusal;
  if (!match) return plan;
  *steps = match->window.steps;
  const Plan carried = replace(graph, plan, match->window, match->replacement);
  const testing::Judgement j = testing::judge(graph, carried, 3);
  EXPECT_TRUE(j.within) << j.reason;
  return carried;
}

// The activation between two convolutions becomes part of the first one's epilogue.
TEST(CarryBlockedLayout, TakesPointwiseStepsIntoEpilogues) {
  std::vector<int> steps;
  const Plan carried = first_carried(pair_of_convolutions("Relu", 16), &steps);
  EXPECT_EQ(steps.size(), 3u);
  for (const Step& step : carried.steps) EXPECT_NE(step.variant.problem.kind, "pointwise");
}

// x times a function of x reads the convolution twice: no join of branches, and one activation of the epilogue.
TEST(CarryBlockedLayout, AnActivationOfSeveralNodesIsNoJoin) {
  for (const char* gate : {"Sigmoid", "HardSigmoid"}) {
    Network n;
    const ValueId x = n.conv(n.input({1, 16, 6, 6}), 16, 3, 1);
    const ValueId y = n.conv(n.op("Mul", {x, n.op(gate, {x})}), 16, 3, 1);
    n.output(n.op("Mul", {n.op(gate, {y}), y}));
    std::vector<int> steps;
    const Plan carried = first_carried(n.graph, &steps);
    EXPECT_EQ(steps.size(), 6u) << gate;
    for (const Step& step : carried.steps) EXPECT_NE(step.variant.problem.kind, "pointwise") << gate;
    EXPECT_EQ(conversions_of(carried), 2) << "in and out";
  }
}

// Two convolutions of one image are two branches, whatever activation one of them has.
TEST(CarryBlockedLayout, AGateThatAnotherConvolutionMakesIsAJoin) {
  Network n;
  const ValueId x = n.input({1, 16, 6, 6});
  const ValueId y = n.op("Mul", {n.conv(x, 16, 3, 1), n.op("Sigmoid", {n.conv(x, 16, 3, 1)})});
  n.output(n.conv(y, 16, 3, 1));
  EXPECT_EQ(anchors(n.graph, starter_plan(n.graph, 1, cpu_target())).size(), 2u);
}

// F(x) = sigmoid(x) makes zero one half: padding channels would no longer be zero.
TEST(CarryBlockedLayout, LeavesPointwiseStepsOutThatDoNotKeepZero) {
  std::vector<int> steps;
  first_carried(pair_of_convolutions("Sigmoid", 20), &steps);
  EXPECT_EQ(steps, std::vector<int>{0});
}

}  // namespace
}  // namespace amdahl
