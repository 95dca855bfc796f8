#include "tuner/search/headline.h"

#include <gtest/gtest.h>

#include "starter_kernels/cpu/cpu_target.h"
#include "tests/tuner/simulated_trials.h"
#include "tuner/search/gate.h"

namespace amdahl {
namespace {

class Headlines : public ::testing::Test {
 protected:
  int pairs() { return measure_headline(runner, plan, plan, options).gain.pairs; }

  const Graph graph = testing::chain_of_matmuls(4);
  const Plan plan = starter_plan(graph, 1, testing::simulated_target());
  testing::SimulatedTrials runner;
  HeadlineOptions options;
};

TEST_F(Headlines, TakeAllTheirPairsWhereThereIsTime) { EXPECT_EQ(pairs(), kHeadlinePairs); }

TEST_F(Headlines, EndWithTheFewestPairsThatAreAnIntervalWhenTimeIsOver) {
  options.out_of_time = [] { return true; };
  EXPECT_EQ(pairs(), kFewestHeadlinePairs);
  options.out_of_time = [&] { return runner.clock > 1000 + 8.5 * 1.5 * runner.model_seconds; };
  EXPECT_EQ(pairs(), kFewestHeadlinePairs);
  runner.clock = 1000;
  EXPECT_EQ(pairs(), 9);
}

TEST_F(Headlines, SpendTimeThatIsLeftOnMorePairs) {
  const double pair = 1.5 * runner.model_seconds, end = 1000 + 20.5 * pair;
  options.time_for_another = [&](double seconds) { return runner.clock + seconds <= end; };
  EXPECT_EQ(pairs(), 20);
  EXPECT_LE(runner.clock, end);
  options.time_for_another = [](double) { return true; };
  EXPECT_EQ(pairs(), kMostHeadlinePairs);
}

TEST_F(Headlines, AreNoneWhenTheyMustStopBefore) {
  options.must_stop = [&] { return runner.clock > 1000 + 2.5 * 1.5 * runner.model_seconds; };
  EXPECT_LT(pairs(), kFewestHeadlinePairs);
}

TEST_F(Headlines, TakeTheirDistributionsInTurnsAndRecordThemWithTheSeed) {
  options.inputs = headline_inputs(graph);
  options.seed = ~uint64_t{0};
  const Headline headline = Json(measure_headline(runner, plan, plan, options)).get<Headline>();
  EXPECT_EQ(headline.seed, options.seed);
  EXPECT_EQ(headline.inputs, (std::vector<std::string>{"normal", "uniform", "needle"}));
  ASSERT_EQ(runner.families.size(), static_cast<size_t>(kHeadlinePairs));
  for (size_t i = 0; i < runner.families.size(); ++i) EXPECT_EQ(runner.families[i], options.inputs[i % 3]);
}

TEST_F(Headlines, OfIntegersAloneHaveOneKindOfInput) {
  Graph tokens = graph;
  tokens.values[static_cast<size_t>(tokens.inputs[0])].dtype = DType::kI64;
  EXPECT_EQ(headline_inputs(tokens).size(), 1u);
}

// What one gate asked of the starter and the plan, no other gate asks again.
TEST_F(Headlines, AreNotTheOnlyOnesWithFreshInputs) {
  Gate gate(runner, plan);
  Random random(1);
  gate.judge(plan, plan, 0.1, random);
  gate.judge(plan, plan, 0.1, random);
  ASSERT_EQ(runner.checked.size(), 4u);
  EXPECT_EQ(runner.checked[0].seed, runner.checked[1].seed);
  EXPECT_EQ(runner.checked[2].seed, runner.checked[3].seed);
  EXPECT_NE(runner.checked[0].seed, runner.checked[2].seed);
}

TEST(Headline, PairsThatTimeIsSetAsideFor) {
  EXPECT_EQ(headline_pairs(/*budget_seconds=*/0, 60), kHeadlinePairs);
  EXPECT_EQ(headline_pairs(600, 2), kHeadlinePairs);
  EXPECT_EQ(headline_pairs(600, 6), 10);
  EXPECT_EQ(headline_pairs(60, 6), kFewestHeadlinePairs);
}

}  // namespace
}  // namespace amdahl
