#include "tuner/headline.h"

#include <gtest/gtest.h>

#include "tests/tuner/simulated_laboratory.h"

namespace amdahl {
namespace {

TEST(Headline, TakesAllItsPairsWhereThereIsTime) {
  const Graph graph = testing::chain_of_matmuls(4);
  const Plan plan = starter_plan(graph, 1);
  testing::SimulatedLaboratory lab;
  Random random(1);
  EXPECT_EQ(measure_headline(lab, plan, plan, 1, kHeadlinePairs, random).gain.pairs, kHeadlinePairs);
}

TEST(Headline, EndsWithTheFewestPairsThatAreAnIntervalWhenTimeIsOver) {
  const Graph graph = testing::chain_of_matmuls(4);
  const Plan plan = starter_plan(graph, 1);
  testing::SimulatedLaboratory lab;
  Random random(1);
  const auto never_any = [] { return true; };
  EXPECT_EQ(measure_headline(lab, plan, plan, 1, kHeadlinePairs, random, never_any).gain.pairs, kFewestHeadlinePairs);
  const auto after_nine = [&] { return lab.clock > 1000 + 8.5 * 1.5 * lab.model_seconds; };
  EXPECT_EQ(measure_headline(lab, plan, plan, 1, kHeadlinePairs, random, after_nine).gain.pairs, kFewestHeadlinePairs);
  lab.clock = 1000;
  EXPECT_EQ(measure_headline(lab, plan, plan, 1, kHeadlinePairs, random, after_nine).gain.pairs, 9);
}

TEST(Headline, PairsThatTimeIsSetAsideFor) {
  EXPECT_EQ(headline_pairs(/*budget_seconds=*/0, 60), kHeadlinePairs);
  EXPECT_EQ(headline_pairs(600, 2), kHeadlinePairs);
  EXPECT_EQ(headline_pairs(600, 6), 10);
  EXPECT_EQ(headline_pairs(60, 6), kFewestHeadlinePairs);
}

}  // namespace
}  // namespace amdahl
