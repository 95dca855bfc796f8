// Neighbours that share their work alike: what the rewrite takes along, what it sets and what it leaves open.

#include "starter_kernels/cpu/cpu_target.h"
#include "tests/playbook/blocked_bottleneck.h"

namespace amdahl {
namespace {

class AlignThreadPartitions : public testing::BlockedBottleneck {
 protected:
  void share(std::vector<int64_t> partitions) {
    for (size_t i = 0; i < convs_.size(); ++i) plan_.steps[static_cast<size_t>(convs_[i])].variant.knobs["PARTITION"] = partitions[i];
  }
  static std::vector<int64_t> partitions(const Match& match) {
    std::vector<int64_t> all;
    for (const Step& s : match.replacement) all.push_back(s.variant.knobs.at("PARTITION"));
    return all;
  }
};

TEST_F(AlignThreadPartitions, AllByPixelsFirstAndByChannelsWhereThatIsInPlace) {
  carry(false, 2);
  for (const std::vector<int64_t>& before : {std::vector<int64_t>{1, 1, 0}, {0, 0, 0}}) {
    share(before);
    const auto match = match_of(align_thread_partitions(), convs_[1]);
    ASSERT_TRUE(match) << refusal_;
    EXPECT_EQ(match->window.steps, convs_);
    EXPECT_EQ(partitions(*match), before[0] ? (std::vector<int64_t>{0, 0, 0}) : (std::vector<int64_t>{1, 1, 1}));
    EXPECT_EQ(match->search.size(), 3u);
    const testing::Judgement j = testing::judge(graph_, replace(graph_, plan_, match->window, match->replacement), 3);
    EXPECT_TRUE(j.within) << j.reason;
  }
}

// As a session from before threads of a depthwise convolution had a choice holds it.
TEST_F(AlignThreadPartitions, GivesTheKnobToAStepWithoutIt) {
  carry(false, 2);
  share({0, 0, 0});
  plan_.steps[static_cast<size_t>(convs_[1])].variant.knobs.erase("PARTITION");
  const auto match = match_of(align_thread_partitions(), convs_[1]);
  ASSERT_TRUE(match) << refusal_;
  EXPECT_EQ(partitions(*match), (std::vector<int64_t>{0, 0, 0}));
}

// Its threads share pixels where the knob is 2, not 0.
TEST_F(AlignThreadPartitions, AProductInHalvesIsTakenAlong) {
  ExampleGraph g("1x1, 3x3");
  const ValueId narrow = g.node("Conv", {g.input({1, 128, 10, 10}), g.normal({128, 128, 1, 1}, 1, 0, 0.1)});
  graph_ = g.finish({g.node("Conv", {narrow, g.normal({128, 128, 3, 3}, 2, 0, 0.03)}, {{"pads", std::vector<int64_t>{1, 1, 1, 1}}})});
  plan_ = starter_plan(graph_, 2, cpu_target());
  const auto carried = match_of(carry_blocked_layout(), 0);
  ASSERT_TRUE(carried) << refusal_;
  plan_ = replace(graph_, plan_, carried->window, carried->replacement);
  const auto first = std::find_if(plan_.steps.begin(), plan_.steps.end(), [](const Step& s) { return s.variant.problem.kind == "conv"; });
  const int product = static_cast<int>(first - plan_.steps.begin());
  const auto halved = match_of(find_rewrite("use_strassen"), product);
  ASSERT_TRUE(halved) << refusal_;
  plan_ = replace(graph_, plan_, halved->window, halved->replacement);
  for (const std::vector<int64_t>& before : {std::vector<int64_t>{1, 0}, {2, 0}}) {
    plan_.steps[static_cast<size_t>(product)].variant.knobs["PARTITION"] = before[0];
    plan_.steps[static_cast<size_t>(product + 1)].variant.knobs["PARTITION"] = before[1];
    const auto match = match_of(align_thread_partitions(), product + 1);
    ASSERT_TRUE(match) << refusal_;
    EXPECT_EQ(partitions(*match), before[0] == 1 ? (std::vector<int64_t>{2, 0}) : (std::vector<int64_t>{1, 1}));
    const testing::Judgement j = testing::judge(graph_, replace(graph_, plan_, match->window, match->replacement), 3);
    EXPECT_TRUE(j.within) << j.reason;
  }
}

TEST_F(AlignThreadPartitions, PointwiseConvolutionsAreTakenAlongOnly) {
  carry(false, 2);
  for (const int anchor : {convs_[0], convs_[2]}) {
    EXPECT_FALSE(match_of(align_thread_partitions(), anchor));
    EXPECT_NE(refusal_.find("1x1"), std::string::npos) << refusal_;
  }
}

TEST_F(AlignThreadPartitions, StopsWhereSomebodyElseReads) {
  carry(true, 2);
  const auto match = match_of(align_thread_partitions(), convs_[1]);
  ASSERT_TRUE(match) << refusal_;
  EXPECT_EQ(match->window.steps, (std::vector<int>{convs_[0], convs_[1]}));
}

TEST_F(AlignThreadPartitions, RefusesOneThreadAndRowMajorSteps) {
  carry(false, 1);
  EXPECT_FALSE(match_of(align_thread_partitions(), convs_[1]));
  EXPECT_NE(refusal_.find("one thread"), std::string::npos) << refusal_;
  plan_ = starter_plan(graph_, 2, cpu_target());
  EXPECT_FALSE(match_of(align_thread_partitions(), 1));
  EXPECT_NE(refusal_.find("channel blocks"), std::string::npos) << refusal_;
}

}  // namespace
}  // namespace amdahl
