// Channels last carried through a small network of half floats on a card, and the plan that a session begins with. No card is needed: what such plans compute is
// tried in tests/emulated_card/channels_last_test.cc.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "playbook/first_plan.h"
#include "playbook/playbook.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "starter_kernels/kinds/formats.h"
#include "tests/plan/channels_last_cases.h"
#include "tests/playbook/network.h"
#include "tests/starter_kernels/absent_card.h"

namespace amdahl {
namespace {

using testing::ampere;
using testing::hopper;
using testing::Network;
using testing::residual_network;

std::optional<Match> match_at(const Graph& graph, const Plan& plan, int anchor, const Target& target, std::string* refusal) {
  const Uses uses = uses_of(graph);
  const std::vector<ValueId> storage = storage_of(graph);
  return carry_channels_last()->match(RewriteContext::of(graph, plan, target, uses, storage), anchor, refusal);
}

std::vector<const Step*> steps_of(const Plan& plan, std::string_view kind) {
  std::vector<const Step*> found;
  for (const Step& s : plan.steps)
    if (s.variant.problem.kind == kind) found.push_back(&s);
  return found;
}

std::vector<int64_t> forms_of(const Plan& plan) {
  std::vector<int64_t> forms;
  for (const Step* s : steps_of(plan, kind::kConv)) forms.push_back(s->variant.knobs.at("FORM"));
  return forms;
}

// What tells two plans of a graph apart.
std::vector<std::string> text_of(const Plan& plan) {
  std::vector<std::string> text;
  for (const Step& s : plan.steps) text.push_back(fmt::format("{}: {} {}", s.outputs[0].value, s.outputs[0].format, s.variant.id()));
  return text;
}

void expect_launchable(const Graph& graph, const Plan& plan, const Target& target) {
  EXPECT_EQ(check(graph, plan), "");
  for (const Step& s : plan.steps) {
    const SearchSpace space = target.space(s.variant.problem);
    EXPECT_EQ(space.refuse ? space.refuse(s.variant.knobs) : "", "") << s.variant.problem.canonical();
  }
}

TEST(CarryChannelsLast, ConvertsNothingBetweenStretches) {
  const Graph graph = residual_network(DType::kF16);
  Plan plan = starter_plan(graph, 1, hopper());
  int stretches = 0;
  for (size_t s = 0; s < plan.steps.size();) {
    std::string refusal;
    const auto match = match_at(graph, plan, static_cast<int>(s), hopper(), &refusal);
    if (!match) {
      EXPECT_NE(refusal, "");
      ++s;
      continue;
    }
    plan = replace(graph, plan, match->window, match->replacement);
    s = 0;
    ASSERT_LT(++stretches, 10);
  }
  EXPECT_EQ(stretches, 2);
  expect_launchable(graph, plan, hopper());
  const std::vector<const Step*> conversions = steps_of(plan, kind::kReorder);
  ASSERT_EQ(conversions.size(), 1u) << "the output in the middle";
  EXPECT_EQ(conversions[0]->outputs[0], (Operand{graph.outputs[0], ""}));
  EXPECT_EQ(forms_of(plan), (std::vector<int64_t>{6, 4, 5, 4, 4, 4})) << "an image, windows, depthwise";
  EXPECT_EQ(text_of(plan), text_of(first_plan(graph, 1, hopper())));
}

// What the neighbours read is converted once, and back.
TEST(CarryChannelsLast, TheFirstStretchAloneStandsBetweenConversions) {
  const Graph graph = residual_network(DType::kF16);
  const Plan plan = starter_plan(graph, 1, hopper());
  std::string refusal;
  const auto match = match_at(graph, plan, 0, hopper(), &refusal);
  ASSERT_TRUE(match) << refusal;
  const Plan carried = replace(graph, plan, match->window, match->replacement);
  expect_launchable(graph, carried, hopper());
  EXPECT_EQ(steps_of(carried, kind::kReorder).size(), 1u) << "the sum, for its readers and as an output";
}

// As decoders of latent images begin: what has 4 channels is read row-major, wherever it comes from.
TEST(CarryChannelsLast, AnImageThatAConvolutionMakesIsReadRowMajor) {
  Network n(DType::kF16);
  const ValueId latent = n.conv(n.input({1, 4, 16, 16}), 4, 1, 1);
  n.output(n.conv(n.op("Relu", {n.conv(n.conv(latent, 64, 3, 1), 64, 3, 1)}), 3, 3, 1));
  std::string refusal;
  EXPECT_FALSE(match_at(n.graph, starter_plan(n.graph, 1, hopper()), 0, hopper(), &refusal));
  const Plan plan = first_plan(n.graph, 1, hopper());
  expect_launchable(n.graph, plan, hopper());
  EXPECT_EQ(forms_of(plan).at(1), 6);
  EXPECT_EQ(steps_of(plan, kind::kReorder).size(), 1u) << "the result";
  Network narrow(DType::kF16);  // and what has 4 in the middle of a region
  const ValueId x = narrow.conv(narrow.conv(narrow.input({1, 64, 16, 16}), 64, 3, 1), 4, 1, 1);
  narrow.output(narrow.op("GlobalAveragePool", {narrow.conv(narrow.conv(x, 64, 3, 1), 64, 3, 1)}));
  const Plan around = first_plan(narrow.graph, 1, hopper());
  expect_launchable(narrow.graph, around, hopper());
  EXPECT_EQ(forms_of(around), (std::vector<int64_t>{4, 4, 6, 4}));
  EXPECT_EQ(steps_of(around, kind::kReorder).size(), 2u) << "the input, and the 4 channels";
}

// Windows of several images walk no operand that has a number an image and channel: the gate stays a step.
TEST(CarryChannelsLast, AnEpilogueThatNoKernelHasStaysAStep) {
  for (const int64_t images : {1, 2}) {
    Network n(DType::kF16);
    const ValueId x = n.conv(n.input({images, 64, 10, 10}), 64, 3, 1);
    const ValueId gate = n.op("Sigmoid", {n.conv(n.op("GlobalAveragePool", {x}), 64, 1, 1)});
    n.output(n.op("GlobalAveragePool", {n.conv(n.op("Mul", {n.conv(x, 64, 3, 1), gate}), 64, 3, 1)}));
    const Plan plan = first_plan(n.graph, 1, hopper());
    expect_launchable(n.graph, plan, hopper());
    EXPECT_EQ(forms_of(plan), (std::vector<int64_t>{4, 4, 4, 4})) << images;
    EXPECT_EQ(steps_of(plan, kind::kReorder).size(), 1u) << images;
  }
}

TEST(CarryChannelsLast, OnlyWhatTheCardHasAFormOf) {
  const auto refusal_of = [](const Graph& graph, const Target& target) {
    std::string refusal;
    EXPECT_FALSE(match_at(graph, starter_plan(graph, 1, target), 0, target, &refusal));
    return refusal;
  };
  const auto pair = [](DType type, int64_t channels) {
    Network n(type);
    n.output(n.conv(n.conv(n.input({1, channels, 14, 14}), channels, 3, 1), channels, 1, 1));
    return n.graph;
  };
  EXPECT_NE(refusal_of(pair(DType::kF16, 64), ampere()), "") << "no tensor cores that read shared memory";
  EXPECT_NE(refusal_of(pair(DType::kF16, 60), hopper()), "") << "lines of 120 bytes";
  EXPECT_NE(refusal_of(pair(DType::kF32, 64), hopper()), "");
  std::string refusal;
  const Graph half = pair(DType::kBF16, 64);
  EXPECT_TRUE(match_at(half, starter_plan(half, 1, hopper()), 0, hopper(), &refusal)) << refusal;
}

void expect_starters(const Graph& graph, const Target& target) { EXPECT_EQ(text_of(first_plan(graph, 2, target)), text_of(starter_plan(graph, 2, target))); }

TEST(FirstPlan, IsTheStartersWhereFewConvolutionsWouldJoin) {
  const Graph graph = residual_network(DType::kF16);
  expect_starters(graph, cpu_target());
  Network depthwise(DType::kF16);  // on a card that has a form of nothing else
  ValueId x = depthwise.input({1, 32, 14, 14});
  for (int i = 0; i < 3; ++i) x = depthwise.conv(depthwise.conv(x, 32, 3, 1, 32), 32, 1, 1);
  depthwise.output(x);
  EXPECT_EQ(steps_of(first_plan(depthwise.graph, 1, ampere()), kind::kReorder).size(), 0u);
  EXPECT_EQ(steps_of(first_plan(depthwise.graph, 1, hopper()), kind::kReorder).size(), 2u) << "in and out";
}

TEST(FirstPlan, ChainsLongerThanAStretchJoin) {
  Network n(DType::kF16);
  ValueId x = n.input({1, 64, 10, 10});
  for (int i = 0; i < 20; ++i) x = n.op("Relu", {n.conv(x, 64, 3, 1)});
  n.output(x);
  const Plan plan = first_plan(n.graph, 1, hopper());
  expect_launchable(n.graph, plan, hopper());
  EXPECT_EQ(plan.steps.size(), 22u) << "activations are in epilogues";
  EXPECT_EQ(steps_of(plan, kind::kReorder).size(), 2u);
}

// A knob that no rewrite opens keeps its starter for ever.
TEST(FormsOverChannelsLast, HaveTheirKnobsOpened) {
  std::set<std::string> closed;
  for (const Graph& graph : testing::conv_graphs(hopper())) {
    const testing::Case made = testing::case_channels_last(graph, hopper()).value();
    const Uses uses = uses_of(graph);
    const std::vector<ValueId> storage = storage_of(graph);
    const RewriteContext context = RewriteContext::of(graph, made.plan, hopper(), uses, storage);
    for (size_t s = 0; s < made.plan.steps.size(); ++s) {
      std::set<std::string> opened;
      for (const Rewrite* rewrite : playbook())
        if (const auto match = rewrite->match(context, static_cast<int>(s), nullptr))
          for (const Match::OpenKnob& open : match->search) opened.insert(open.name);
      for (const Knob& knob : hopper().space(made.plan.steps[s].variant.problem).knobs)
        if (knob.values.size() > 1 && !opened.count(knob.name)) closed.insert(made.plan.steps[s].variant.problem.kind + " " + knob.name);
    }
  }
  EXPECT_EQ(closed, std::set<std::string>{});
}

}  // namespace
}  // namespace amdahl
