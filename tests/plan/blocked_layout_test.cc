// Convolution and pooling on channel blocks, between two reorders: every example that has such a form, every knob
// value.

#include <gtest/gtest.h>

#include "starter_kernels/formats.h"
#include "tests/plan/kernel_bench.h"

namespace amdahl {
namespace {

const std::string kFormat = "nchw16c";

Step reorder_step(const Graph& graph, ValueId value, const std::string& from, const std::string& to, int threads) {
  Step step;
  step.inputs = {{value, from}};
  step.outputs = {{value, to}};
  Problem& problem = step.variant.problem;
  problem.kind = "reorder";
  problem.threads = threads;
  problem.in = problem.out = {Access::dense(DType::kF32, graph.value(value).shape)};
  set_formats(problem, {from}, {to});
  return step;
}

// The example's only step on blocks, or nothing when its kind has no such form. `plain_input`: x stays row-major.
std::optional<Plan> on_blocks(const Graph& graph, bool plain_input) {
  Plan plan = starter_plan(graph, 2);
  Step step = plan.steps.at(0);
  if (step.variant.problem.out[0].shape.size() != 4) return std::nullopt;
  step.outputs[0].format = kFormat;
  if (!plain_input) step.inputs[0].format = kFormat;
  Problem& problem = step.variant.problem;
  set_formats(problem, {plain_input ? "" : kFormat}, {kFormat});
  const SearchSpace space = kernel_kind(problem.kind).space(problem, this_machine());
  step.variant.knobs = space.starters();
  if (!space.refuse(step.variant.knobs).empty()) return std::nullopt;
  plan.steps.clear();
  if (!plain_input) plan.steps.push_back(reorder_step(graph, step.inputs[0].value, "", kFormat, 2));
  plan.steps.push_back(step);
  plan.steps.push_back(reorder_step(graph, step.outputs[0].value, kFormat, "", 2));
  return plan;
}

class BlockedLayout : public ::testing::TestWithParam<const char*> {};

TEST_P(BlockedLayout, StartersPassWhereThereIsSuchAForm) {
  int tried = 0;
  for (const Graph& graph : kernel_kind(GetParam()).examples())
    for (bool plain_input : {false, true}) {
      const auto plan = on_blocks(graph, plain_input);
      if (!plan) continue;
      ++tried;
      ASSERT_EQ(check(graph, *plan), "");
      const testing::Judgement j = testing::judge(graph, *plan, 5);
      EXPECT_TRUE(j.within) << graph.name << (plain_input ? " from row-major: " : ": ") << j.reason;
    }
  EXPECT_GE(tried, 8);
}

TEST_P(BlockedLayout, EveryKnobValuePasses) {
  size_t turn = 0;
  for (const Graph& graph : kernel_kind(GetParam()).examples()) {
    const auto plan = on_blocks(graph, false);
    if (!plan) continue;
    const Variant& variant = plan->steps[1].variant;
    for (const Knob& knob : kernel_kind(GetParam()).space(variant.problem, this_machine()).knobs)
      for (int64_t value : knob.values) {
        if (!std::getenv("AMDAHL_EXHAUSTIVE") && turn++ % 9 != 0) continue;
        const auto varied = testing::with_knob(*plan, 1, knob.name, value);
        if (!varied) continue;
        const testing::Judgement j = testing::judge(graph, *varied, 5);
        EXPECT_TRUE(j.within) << graph.name << " " << knob.name << "=" << value << ": " << j.reason;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, BlockedLayout, ::testing::Values("conv", "pool"),
                         [](const auto& info) { return std::string(info.param); });

TEST(BlockedLayoutOfPooling, GlobalResultMayLeaveRowMajor) {
  for (const Graph& graph : kernel_kind("pool").examples()) {
    if (!graph.name.starts_with("global")) continue;
    auto plan = on_blocks(graph, false);
    ASSERT_TRUE(plan);
    plan->steps.pop_back();
    plan->steps[1].outputs[0].format = "";
    set_formats(plan->steps[1].variant.problem, {kFormat}, {""});
    const testing::Judgement j = testing::judge(graph, *plan, 5);
    EXPECT_TRUE(j.within) << graph.name << ": " << j.reason;
  }
}

}  // namespace
}  // namespace amdahl
