// Every kernel kind, every example, every value of every knob: compiled, run, judged by the float64 oracle with bounds. A new
// row in kernel_kinds() is tested the day it exists.
//
// AMDAHL_KINDS=matmul,conv narrows the run while working on a kind. By default each knob value is tried on the examples in
// turn (the first, then the second, …), which keeps the run short; AMDAHL_EXHAUSTIVE=1 tries all on all.

#include <gtest/gtest.h>

#include <cstdlib>

#include "starter_kernels/cpu/cpu_target.h"
#include "starter_kernels/toolchain/source_rules.h"
#include "tests/plan/kernel_bench.h"

namespace amdahl {
namespace {

class Kind : public ::testing::TestWithParam<const KernelKind*> {};

TEST_P(Kind, StartersPassEveryExample) {
  const KernelKind& kind = *GetParam();
  if (!testing::kind_selected(kind.name())) GTEST_SKIP() << "not selected by AMDAHL_KINDS";
  std::vector<testing::Case> cases;
  int own_steps = 0;
  const std::vector<Graph> examples = kind.examples();
  for (size_t e = 0; e < examples.size(); ++e)
    for (int threads : {1, 2}) {
      const Plan plan = starter_plan(examples[e], threads, cpu_target());
      for (const Step& s : plan.steps) own_steps += s.variant.problem.kind == kind.name();
      cases.push_back({fmt::format("example {} ({}, {} threads)", e, examples[e].name, threads), examples[e], plan, 11 + e});
    }
  testing::expect_within(cases);
  // Kinds that no single node lowers to (fused_mlp) are reached through their rewrites and say so by having no examples.
  EXPECT_EQ(examples.empty(), own_steps == 0) << "no example reaches kind " << kind.name();
}

TEST_P(Kind, EveryKnobValuePasses) {
  const KernelKind& kind = *GetParam();
  if (!testing::kind_selected(kind.name())) GTEST_SKIP() << "not selected by AMDAHL_KINDS";
  std::vector<testing::Case> cases;
  const std::vector<Graph> examples = kind.examples();
  testing::Turns turns(examples.size());
  for (size_t e = 0; e < examples.size(); ++e) {
    const Plan plan = starter_plan(examples[e], 2, cpu_target());
    turns.begin_case();
    for (size_t s = 0; s < plan.steps.size(); ++s) {
      if (plan.steps[s].variant.problem.kind != kind.name()) continue;
      for (const Knob& knob : cpu_target().space(plan.steps[s].variant.problem).knobs)
        for (int64_t value : knob.values) {
          if (!turns.takes_next_value()) continue;
          if (const auto varied = testing::with_knob(plan, s, knob.name, value))
            cases.push_back({fmt::format("example {} ({}) {}={}", e, examples[e].name, knob.name, value), examples[e], *varied, 11 + e});
        }
    }
  }
  testing::expect_within(cases);
}

TEST_P(Kind, StartersAreInTheSpace) {
  const KernelKind& kind = *GetParam();
  for (const Graph& graph : kind.examples())
    for (const Step& step : starter_plan(graph, 2, cpu_target()).steps) {
      if (step.variant.problem.kind != kind.name()) continue;
      const SearchSpace space = cpu_target().space(step.variant.problem);
      EXPECT_EQ(space.starters(), step.variant.knobs) << kind.name() << " " << graph.name;
      if (space.refuse) {
        EXPECT_EQ(space.refuse(space.starters()), "") << kind.name() << " " << graph.name;
      }
      for (const Knob& knob : space.knobs) EXPECT_TRUE(std::count(knob.values.begin(), knob.values.end(), knob.starter)) << kind.name() << " " << knob.name;
      const Work work = kind.work(step.variant.problem);
      EXPECT_GE(work.bytes, 0);
      EXPECT_GE(work.flops, 0);
    }
}

// What is refused to candidates must not be needed by any form of ours.
TEST_P(Kind, SourcesKeepTheRules) {
  const KernelKind& kind = *GetParam();
  for (const Graph& graph : kind.examples()) {
    const Plan plan = starter_plan(graph, 2, cpu_target());
    for (size_t s = 0; s < plan.steps.size(); ++s) {
      const Variant& starter = plan.steps[s].variant;
      const KernelKind& of_step = kernel_kind(starter.problem.kind);
      EXPECT_EQ(refused_source(cpu_target().source(starter)), "") << graph.name;
      for (const Knob& knob : cpu_target().space(starter.problem).knobs)
        for (int64_t value : knob.values) {
          const auto varied = testing::with_knob(plan, s, knob.name, value);
          if (!varied) continue;
          EXPECT_EQ(refused_source(cpu_target().source(varied->steps[s].variant)), "") << graph.name << " " << knob.name << "=" << value;
        }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Kind, ::testing::ValuesIn(kernel_kinds()), [](const auto& info) { return std::string(info.param->name()); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Kind);

}  // namespace
}  // namespace amdahl
