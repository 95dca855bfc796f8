// Convolution and pooling on channel blocks, between two reorders: every example that has such a form, every knob
// value.

#include <gtest/gtest.h>

#include "plan/format.h"
#include "starter_kernels/cpu/conv_algorithms.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "tests/plan/kernel_bench.h"
#include "tests/plan/made_plans.h"

namespace amdahl {
namespace {

using testing::on_blocks;

class BlockedLayout : public ::testing::TestWithParam<const char*> {};

TEST_P(BlockedLayout, StartersPassWhereThereIsSuchAForm) {
  std::vector<testing::Case> cases;
  for (const Graph& graph : kernel_kind(GetParam()).examples())
    for (bool plain_input : {false, true})
      if (const auto plan = on_blocks(graph, plain_input)) cases.push_back({graph.name + (plain_input ? " from row-major" : ""), graph, *plan, 5});
  EXPECT_GE(cases.size(), 8u);
  testing::expect_within(cases);
}

TEST_P(BlockedLayout, EveryKnobValuePasses) {
  std::vector<testing::Case> cases;
  size_t turn = 0;
  for (const Graph& graph : kernel_kind(GetParam()).examples()) {
    const auto plan = on_blocks(graph, false);
    if (!plan) continue;
    const Variant& variant = plan->steps[1].variant;
    for (const Knob& knob : cpu_target().space(variant.problem).knobs)
      for (int64_t value : knob.values) {
        if (!std::getenv("AMDAHL_EXHAUSTIVE") && turn++ % 9 != 0) continue;
        if (const auto varied = testing::with_knob(*plan, 1, knob.name, value))
          cases.push_back({fmt::format("{} {}={}", graph.name, knob.name, value), graph, *varied, 5});
      }
  }
  testing::expect_within(cases);
}

INSTANTIATE_TEST_SUITE_P(Kinds, BlockedLayout, ::testing::Values("conv", "pool"), [](const auto& info) { return std::string(info.param); });

TEST(BlockedLayout, PixelsSideBySidePassInEveryOrder) {
  std::vector<testing::Case> cases;
  for (const Graph& graph : kernel_kind("conv").examples()) {
    const auto plan = on_blocks(graph, false);
    if (!plan || !plan->steps[1].variant.knobs.count("GATHER")) continue;
    int turn = 0;
    for (const int64_t gather : {1, 2, 32})
      for (const int64_t kcb : {1, 1024}) {
        ++turn;
        const auto varied =
            testing::with_knobs(*plan, 1, {{"GATHER", gather}, {"KCB", kcb}, {"WEIGHTS_INNER", turn % 2}, {"PARTITION", turn / 2 % 2}, {"PX", 2}});
        ASSERT_TRUE(varied);
        cases.push_back({fmt::format("{} GATHER={} KCB={}", graph.name, gather, kcb), graph, *varied, 5});
      }
  }
  EXPECT_GE(cases.size(), 40u);
  testing::expect_within(cases);
}

// A plan from before pixels could be laid side by side.
TEST(BlockedLayout, WithoutAGatherPixelsAreReadWhereTheyLie) {
  std::vector<testing::Case> cases;
  for (const Graph& graph : kernel_kind("conv").examples()) {
    auto plan = on_blocks(graph, false);
    if (!plan || plan->steps[1].variant.knobs.erase("GATHER") == 0) continue;
    const std::string text = cpu_target().source(plan->steps[1].variant);
    EXPECT_NE(text.find("GATHER = 0;"), std::string::npos) << graph.name;
    cases.push_back({graph.name, graph, *plan, 5});
  }
  EXPECT_GE(cases.size(), 5u);
  testing::expect_within(cases);
}

// A plan from before threads of a depthwise convolution had a choice.
TEST(BlockedLayout, DepthwiseWithoutAPartitionSharesChannels) {
  int found = 0;
  for (const Graph& graph : kernel_kind("conv").examples()) {
    auto plan = on_blocks(graph, false);
    if (!plan || plan->steps[1].variant.knobs.at("ALGORITHM") != kConvBlockedDepthwise) continue;
    ++found;
    plan->steps[1].variant.knobs.erase("PARTITION");
    const testing::Judgement j = testing::judge(graph, *plan, 5);
    EXPECT_TRUE(j.within) << graph.name << ": " << j.reason;
  }
  EXPECT_GE(found, 3);
}

// No mutant shows this: kernels do not let padding channels reach a result. Later kernels may count on it.
TEST(Reorder, PaddingChannelsBecomeZero) {
  Graph graph;
  const ValueId x = graph.add_value("x", DType::kF32, {2, 19, 3, 5});
  const CompileResult built = testing::toolchain().compile(testing::reorder_step(graph, x, "", testing::kBlocks, 2).variant);
  ASSERT_TRUE(built.ok) << built.message;
  const Tensor plain = testing::random_tensor(graph.value(x), 3);
  std::vector<float> stored(storage_bytes(DType::kF32, graph.value(x).shape, testing::kBlocks) / 4, std::nanf("")), want(stored.size());
  to_format(plain.data(), reinterpret_cast<std::byte*>(want.data()), DType::kF32, graph.value(x).shape, testing::kBlocks);
  CpuDevice cpu;
  const auto kernel = cpu.load(built.library);
  cpu.prepare({{kernel.get(), {plain.data()}, {stored.data()}}})->run();
  EXPECT_EQ(stored, want);
}

TEST(BlockedLayoutOfPooling, GlobalResultMayLeaveRowMajor) {
  for (const Graph& graph : kernel_kind("pool").examples()) {
    if (!graph.name.starts_with("global")) continue;
    auto plan = on_blocks(graph, false);
    ASSERT_TRUE(plan);
    plan->steps.pop_back();
    plan->steps[1].outputs[0].format = "";
    set_formats(plan->steps[1].variant.problem, {testing::kBlocks}, {""});
    const testing::Judgement j = testing::judge(graph, *plan, 5);
    EXPECT_TRUE(j.within) << graph.name << ": " << j.reason;
  }
}

}  // namespace
}  // namespace amdahl
