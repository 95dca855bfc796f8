// Neighbours that share their work alike: what the rewrite takes along, what it sets and what it leaves open.

#include <gtest/gtest.h>

#include "playbook/playbook.h"
#include "starter_kernels/example_graph.h"
#include "tests/plan/kernel_bench.h"

namespace amdahl {
namespace {

// 1x1 to 96 channels, depthwise, 1x1 to 32; `read_twice`: what the depthwise convolution writes leaves the model too.
Graph inverted_bottleneck(bool read_twice) {
  ExampleGraph g("inverted bottleneck");
  const ExampleGraph::Attributes padded{{"pads", std::vector<int64_t>{1, 1, 1, 1}}, {"group", int64_t{96}}};
  const ValueId wide = g.node("Conv", {g.input({1, 32, 14, 14}), g.normal({96, 32, 1, 1}, 1, 0, 0.2)});
  const ValueId deep = g.node("Conv", {wide, g.normal({96, 1, 3, 3}, 2, 0, 0.3)}, padded);
  const ValueId narrow = g.node("Conv", {deep, g.normal({32, 96, 1, 1}, 3, 0, 0.1)});
  return g.finish(read_twice ? std::vector<ValueId>{narrow, deep} : std::vector<ValueId>{narrow});
}

class AlignThreadPartitions : public ::testing::Test {
 protected:
  void carry(bool read_twice, int threads) {
    graph_ = inverted_bottleneck(read_twice);
    plan_ = starter_plan(graph_, threads);
    const auto match = match_of(carry_blocked_layout(), 0);
    ASSERT_TRUE(match) << refusal_;
    plan_ = replace(graph_, plan_, match->window, match->replacement);
    convs_.clear();
    for (size_t s = 0; s < plan_.steps.size(); ++s)
      if (plan_.steps[s].variant.problem.kind == "conv") convs_.push_back(static_cast<int>(s));
    ASSERT_EQ(convs_.size(), 3u);
  }
  std::optional<Match> match_of(const Rewrite* rewrite, int anchor) {
    const Uses uses = uses_of(graph_);
    const std::vector<ValueId> storage = storage_of(graph_);
    return rewrite->match(RewriteContext::of(graph_, plan_, this_machine(), uses, storage), anchor, &refusal_);
  }
  void share(std::vector<int64_t> partitions) {
    for (size_t i = 0; i < convs_.size(); ++i) plan_.steps[static_cast<size_t>(convs_[i])].variant.knobs["PARTITION"] = partitions[i];
  }
  static std::vector<int64_t> partitions(const Match& match) {
    std::vector<int64_t> all;
    for (const Step& s : match.replacement) all.push_back(s.variant.knobs.at("PARTITION"));
    return all;
  }

  Graph graph_;
  Plan plan_;
  std::vector<int> convs_;
  std::string refusal_;
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
  plan_ = starter_plan(graph_, 2);
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
  plan_ = starter_plan(graph_, 2);
  EXPECT_FALSE(match_of(align_thread_partitions(), 1));
  EXPECT_NE(refusal_.find("channel blocks"), std::string::npos) << refusal_;
}

}  // namespace
}  // namespace amdahl
