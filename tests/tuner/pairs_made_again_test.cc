#include "tuner/trials/pairs_made_again.h"

#include <gtest/gtest.h>

#include "starter_kernels/cpu/cpu_target.h"
#include "tests/tuner/simulated_trials.h"
#include "tuner/search/gate.h"
#include "tuner/search/headline.h"
#include "tuner/search/tune_options.h"

namespace amdahl {
namespace {

// A pair takes 1.5 times `model_seconds`; thirty seconds are spent on those that count for nothing.
struct MadeAgain : ::testing::TestWithParam<std::pair<double, int>> {
  MadeAgain() {
    runner.never_quiet = true;
    runner.model_seconds = GetParam().first;
  }
  const Graph graph = testing::chain_of_matmuls(4);
  const Plan starter = starter_plan(graph, 1, testing::simulated_target());
  testing::SimulatedTrials runner;
  Random random{1};
};

TEST_P(MadeAgain, ByAHeadline) {
  EXPECT_EQ(measure_headline(runner, starter, starter, {}).gain.pairs, kHeadlinePairs);
  EXPECT_EQ(runner.model_pairs, kHeadlinePairs + std::min(GetParam().second, kHeadlinePairs));
}

TEST_P(MadeAgain, ByAGate) {
  Plan faster = starter;
  for (Step& s : faster.steps) s.variant.knobs["MR"] = 8;
  const LedgerEntry entry = *Gate(runner, starter).judge(starter, faster, 0.1, random);
  EXPECT_TRUE(entry.kept) << entry.reason;
  EXPECT_EQ(runner.model_pairs, entry.measured.pairs + std::min(GetParam().second, GateRule{}.min_pairs));
}

INSTANTIATE_TEST_SUITE_P(SecondsOfARun, MadeAgain, ::testing::Values(std::pair{1.0, 20}, std::pair{8.0, 3}, std::pair{40.0, 1}));

TEST_P(MadeAgain, IsRecorded) {
  const Headline headline = measure_headline(runner, starter, starter, {});
  EXPECT_EQ(headline.pairs_dropped, runner.model_pairs - kHeadlinePairs);
}

// A pair takes 1.5 s.
TEST(PairsMadeAgain, InThreeHundredthsOfAShortBudget) {
  const Graph graph = testing::chain_of_matmuls(4);
  const Plan starter = starter_plan(graph, 1, testing::simulated_target());
  testing::SimulatedTrials runner;
  runner.never_quiet = true;
  runner.model_seconds = 1;
  Random random(1);
  TuneOptions options;
  options.seconds = 100;
  EXPECT_EQ(PairsMadeAgain::seconds_of(options.seconds), 3);
  EXPECT_EQ(PairsMadeAgain::seconds_of(0), 30);
  Plan faster = starter;
  for (Step& s : faster.steps) s.variant.knobs["MR"] = 8;
  EXPECT_EQ(Gate(runner, starter, options.gate()).judge(starter, faster, 0.1, random)->pairs_dropped, 2);
}

TEST(PairsMadeAgain, NoneOnAQuietMachine) {
  const Graph graph = testing::chain_of_matmuls(4);
  const Plan starter = starter_plan(graph, 1, testing::simulated_target());
  testing::SimulatedTrials runner;
  measure_headline(runner, starter, starter, {});
  EXPECT_EQ(runner.model_pairs, kHeadlinePairs);
}

}  // namespace
}  // namespace amdahl
