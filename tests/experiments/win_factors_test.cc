#include "experiments/win_factors.h"

#include <gtest/gtest.h>

#include <cmath>

#include "experiments/report.h"
#include "plan/algorithm.h"

namespace amdahl {
namespace {

Step product(const std::string& declared, int64_t rows) {
  Step step;
  step.variant.problem.kind = "matmul";
  step.variant.problem.in = {Access::dense(DType::kF32, {4, 8})};
  if (!declared.empty()) declare_algorithm(step.variant.problem, declared);
  step.variant.knobs["MR"] = rows;
  return step;
}

Experiment tried(int64_t id, const Step& form, double log, Outcome outcome = Outcome::kReverted) {
  Experiment e;
  e.id = id;
  e.signature = "s";
  e.incumbent = "starter";
  e.plan = 1;
  e.steps = {0};
  e.replacement = std::vector<Step>{form};
  e.outcome = outcome;
  e.stage = "race";
  e.incumbent_seconds = 1;
  e.challenger_seconds = std::exp(-log);
  e.race_log_ratio = log;
  if (outcome == Outcome::kKept) e.gain = {log, log - 0.01, log + 0.01, 9};
  return e;
}

MemoryStore store_of(const std::vector<Experiment>& experiments) {
  MemoryStore store;
  Commit c;
  Plan plan;
  plan.steps = {product("", 1)};
  PlanRecord record;
  record.id = 1;
  record.plan = plan;
  c.plans = {record};
  c.experiments = experiments;
  store.commit(c);
  return store;
}

TEST(WinFactors, BlocksOnTheOldAlgorithmAreNoGainOfTheNewOne) {
  const MemoryStore store = store_of(
      {tried(1, product("", 8), std::log(1.5)), tried(2, product("", 6), std::log(2)), tried(3, product("strassen2", 6), std::log(2.4), Outcome::kKept)});
  const auto factors = win_factors(store);
  ASSERT_EQ(factors.size(), 1u);
  EXPECT_EQ(factors.at(3).best_blocks, 2);
  EXPECT_NEAR(std::exp(factors.at(3).blocking), 2, 1e-12);
  EXPECT_NEAR(std::exp(factors.at(3).algorithm), 1.2, 1e-12);
  const std::string text = report_text(store, {}, {});
  EXPECT_NE(text.find("algorithm 1.200x, blocking 2.000x (#2)"), std::string::npos) << text;
  EXPECT_EQ(report_json(store, {}).at("experiments")[2].at("factors").at("best_blocks"), 2);
}

TEST(WinFactors, WithoutABlockOfTheOldAlgorithmNothingIsKnown) {
  const MemoryStore store = store_of({tried(1, product("", 8), 0.4, Outcome::kWrong), tried(2, product("strassen2", 6), 0.9, Outcome::kKept)});
  EXPECT_EQ(win_factors(store).at(2).best_blocks, 0) << "a form that is wrong was not faster";
  EXPECT_NE(report_text(store, {}, {}).find("of which blocking: not measured"), std::string::npos);
}

TEST(WinFactors, BlocksThatLostLeaveAllOfItToTheAlgorithm) {
  const auto factors = win_factors(store_of({tried(1, product("", 8), -0.3), tried(2, product("strassen", 6), 0.1, Outcome::kKept)}));
  EXPECT_EQ(factors.at(2).best_blocks, 1);
  EXPECT_DOUBLE_EQ(factors.at(2).blocking, 0);
  EXPECT_DOUBLE_EQ(factors.at(2).algorithm, 0.1);
}

TEST(WinFactors, OfBlocksAloneThereAreNone) { EXPECT_TRUE(win_factors(store_of({tried(1, product("", 8), 0.7, Outcome::kKept)})).empty()); }

TEST(Algorithm, IsWhatBlocksDoNotChange) {
  EXPECT_EQ(algorithm_of({product("", 1)}), algorithm_of({product("", 8)}));
  EXPECT_NE(algorithm_of({product("", 1)}), algorithm_of({product("strassen", 1)}));
  Step gemv = product("", 1);
  gemv.variant.knobs["GEMV"] = 1;
  EXPECT_NE(algorithm_of({product("", 1)}), algorithm_of({gemv}));
}

}  // namespace
}  // namespace amdahl
