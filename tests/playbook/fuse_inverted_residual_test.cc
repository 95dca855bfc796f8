// Three convolutions as one kernel: what the rewrite takes, what it refuses, and that the plan computes what it did.

#include "starter_kernels/cpu/cpu_target.h"
#include "tests/playbook/blocked_bottleneck.h"

namespace amdahl {
namespace {

Work work_of(const Plan& plan) {
  Work sum;
  for (const Step& step : plan.steps) {
    const Work work = kernel_kind(step.variant.problem.kind).work(step.variant.problem);
    sum.flops += work.flops;
    sum.bytes += work.bytes;
  }
  return sum;
}

class FuseInvertedResidual : public testing::BlockedBottleneck {
 protected:
  void expect_refused(int anchor, const std::string& why) {
    EXPECT_FALSE(match_of(fuse_inverted_residual(), anchor));
    EXPECT_NE(refusal_.find(why), std::string::npos) << refusal_;
  }
};

TEST_F(FuseInvertedResidual, TakesAllThreeAndComputesWhatTheyDid) {
  for (const int threads : {1, 2}) {
    carry(false, threads);
    const auto match = match_of(fuse_inverted_residual(), convs_[1]);
    ASSERT_TRUE(match) << refusal_;
    EXPECT_EQ(match->window.steps, convs_);
    ASSERT_EQ(match->replacement.size(), 1u);
    const Step& fused = match->replacement[0];
    EXPECT_EQ(fused.variant.problem.kind, "inverted_residual");
    EXPECT_EQ(fused.variant.problem.threads, threads);
    EXPECT_EQ(fused.nodes, (std::vector<NodeId>{0, 1, 2}));
    const Plan plan = replace(graph_, plan_, match->window, match->replacement);
    const testing::Judgement j = testing::judge(graph_, plan, 3);
    EXPECT_TRUE(j.within) << j.reason;
    const Work apart = work_of(plan_), together = work_of(plan);
    EXPECT_EQ(apart.flops, together.flops);
    EXPECT_EQ(together.bytes, apart.bytes - 4 * sizeof(float) * 96 * 14 * 14);  // two wide images, written and read
  }
}

TEST_F(FuseInvertedResidual, EveryKnobValueComputesTheSame) {
  carry(false, 2);
  const auto match = match_of(fuse_inverted_residual(), convs_[1]);
  ASSERT_TRUE(match) << refusal_;
  const Plan plan = replace(graph_, plan_, match->window, match->replacement);
  const auto fused = std::find_if(plan.steps.begin(), plan.steps.end(), [](const Step& s) { return s.variant.problem.kind == "inverted_residual"; });
  ASSERT_NE(fused, plan.steps.end());
  for (const Knob& knob : cpu_target().space(fused->variant.problem).knobs)
    for (int64_t value : knob.values)
      if (const auto varied = testing::with_knob(plan, static_cast<size_t>(fused - plan.steps.begin()), knob.name, value)) {
        const testing::Judgement j = testing::judge(graph_, *varied, 5);
        EXPECT_TRUE(j.within) << knob.name << "=" << value << ": " << j.reason;
      }
}

TEST_F(FuseInvertedResidual, AnchorsAtTheDepthwiseOne) {
  carry(false, 2);
  expect_refused(convs_[0], "not three convolutions");
  expect_refused(convs_[2], "read elsewhere");
  expect_refused(0, "no convolution");
}

TEST_F(FuseInvertedResidual, RefusesWhatIsReadElsewhere) {
  carry(true, 2);
  expect_refused(convs_[1], "read elsewhere");
}

TEST_F(FuseInvertedResidual, RefusesRowMajorSteps) {
  graph_ = testing::inverted_bottleneck(false);
  plan_ = starter_plan(graph_, 2, cpu_target());
  expect_refused(1, "channel blocks");
}

TEST_F(FuseInvertedResidual, RefusesWeightsThatL2DoesNotHoldBesideRows) {
  carry(false, 2);
  target_.device.l2_bytes = 2 * 4 * 2 * 96 * 32;
  EXPECT_TRUE(match_of(fuse_inverted_residual(), convs_[1])) << refusal_;
  target_.device.l2_bytes -= 2;
  expect_refused(convs_[1], "L2");
}

TEST_F(FuseInvertedResidual, RefusesAnEditedTextAndADeclaredAlgorithm) {
  carry(false, 2);
  const Plan before = plan_;
  plan_.steps[static_cast<size_t>(convs_[2])].variant.source_override = "edited";
  expect_refused(convs_[1], "edited");
  plan_ = before;
  declare_algorithm(plan_.steps[static_cast<size_t>(convs_[0])].variant.problem, "strassen");
  expect_refused(convs_[1], "declared");
}

}  // namespace
}  // namespace amdahl
