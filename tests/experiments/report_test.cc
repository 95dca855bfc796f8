#include "experiments/report.h"

#include <gtest/gtest.h>

#include <cmath>

#include "plan/plan.h"

namespace amdahl {
namespace {

LedgerEntry entry(int64_t id, double predicted, Gain measured, bool kept) {
  LedgerEntry e;
  e.id = id;
  e.experiments = {id};
  e.predicted = predicted;
  e.measured = measured;
  e.kept = kept;
  e.before_seconds = 0.2;
  e.after_seconds = 0.1;
  return e;
}

Step step_of(const std::string& kind) {
  Step step;
  step.variant.problem.kind = kind;
  step.variant.problem.in = {Access::dense(DType::kF32, {4, 8})};
  return step;
}

MemoryStore example_store() {
  MemoryStore store;
  Commit c;
  for (int64_t id = 1; id <= 30; ++id) {
    Experiment e;
    e.id = id;
    e.rewrite = "pack_constants";
    e.window = "matmul " + std::to_string(id);
    e.outcome = id == 7 ? Outcome::kKept : Outcome::kReverted;
    e.gain = {std::log(1.25), std::log(1.2), std::log(1.3), 9};
    e.occurrences = 12;
    e.share = 0.3;
    c.experiments.push_back(e);
  }
  c.ledger = {entry(1, 0.07, {std::log(2), std::log(1.9), std::log(2.1), 9}, true), entry(2, 0.5, {-0.1, -0.2, 0, 9}, false)};
  Plan plan;
  plan.steps = {step_of("softmax"), step_of("matmul"), step_of("softmax")};
  PlanRecord record;
  record.id = 1;
  record.plan = plan;
  c.plans = {record};
  c.profiles = {{1, 1, 0.2, {0.050, 0.100, 0.050}, {0.010, 0.090, 0.010}}};
  store.commit(c);
  return store;
}

TEST(Report, ConfirmedGainMultipliesKeptGatesOnly) {
  const Gain a{std::log(2), std::log(2) - 0.03, std::log(2) + 0.03, 5}, b{0.1, 0.06, 0.14, 4};
  const Gain sum = confirmed_gain({entry(1, 0, a, true), entry(2, 0, {1, 1, 1, 1}, false), entry(3, 0, b, true)});
  EXPECT_NEAR(sum.log, std::log(2) + 0.1, 1e-12);
  EXPECT_NEAR(sum.lo, sum.log - 0.05, 1e-12);  // 3-4-5
  EXPECT_NEAR(sum.hi, sum.log + 0.05, 1e-12);
  EXPECT_EQ(sum.pairs, 9);
}

Headline headline(Gain gain) { return Headline{2, gain, 0.2, 0.19, 0, 7, {"normal"}}; }

TEST(Report, AnIntervalThatHoldsOneIsLevel) {
  MemoryStore store = example_store();
  Commit c;
  c.headline = headline({0.02, -0.01, 0.05, 12});
  store.commit(c);
  EXPECT_NE(report_text(store, {}, {}).find("headline: level: 1.020x (0.990x to 1.051x)"), std::string::npos) << report_text(store, {}, {});
  EXPECT_EQ(report_json(store, {}).at("headline").at("standing"), "level");
  c.headline = headline({0.2, 0.1, 0.3, 12});
  store.commit(c);
  EXPECT_NE(report_text(store, {}, {}).find("headline: 1.221x (1.105x to 1.350x) faster"), std::string::npos) << report_text(store, {}, {});
  EXPECT_EQ(report_json(store, {}).at("headline").at("standing"), "faster");
}

// The plan profiled last met a busier hour: each plan has its own time all the same.
TEST(Report, ProfilesOfBothPlansStandBesideEachOther) {
  MemoryStore store = example_store();
  Commit c;
  c.profiles = {{2, 2, 0.3, {0.1, 0.1, 0.1}, {0.01, 0.02, 0.03}}};
  store.commit(c);
  EXPECT_NE(report_text(store, {}, {}).find("by profile: starter plan 200 ms, plan profiled last 300 ms, of which 60.0 ms at its rooflines"), std::string::npos)
      << report_text(store, {}, {});
}

TEST(Report, LeftToWinGroupsEqualStepsAndRanksByWhatIsAboveTheFloor) {
  const std::vector<StepGroup> left = left_to_win(example_store());
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].kind, "softmax");
  EXPECT_EQ(left[0].count, 2);
  EXPECT_NEAR(left[0].seconds - left[0].floor_seconds, 0.080, 1e-12);
  EXPECT_EQ(left[1].kind, "matmul");
}

TEST(Report, ShapesThatAreNoListOfNumbersHaveAName) {
  MemoryStore store = example_store();
  Plan plan;
  plan.steps = {step_of("softmax"), step_of("pointwise")};
  plan.steps[0].variant.problem.in = {Access::dense(DType::kF32, {}), Access::dense(DType::kF32, {2, 3})};
  plan.steps[1].variant.problem.in = {};
  plan.steps[1].variant.problem.out = {Access::dense(DType::kF32, {0, 4})};
  PlanRecord record;
  record.id = 3;
  record.plan = plan;
  Commit c;
  c.plans = {record};
  c.profiles = {{3, 3, 3e-6, {2e-6, 1e-6}, {0, 0}}};
  store.commit(c);
  const std::vector<StepGroup> left = left_to_win(store);
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].shapes, "scalar x [2, 3]");
  EXPECT_EQ(left[1].shapes, "[0, 4]") << "reads nothing";
  EXPECT_NE(report_text(store, {}, {}).find("2.00 µs of   2.00 µs"), std::string::npos) << "not 0.00 ms";
}

TEST(Report, NamesEveryExperimentKeptStepsAndBothSidesOfTheLedger) {
  const MemoryStore store = example_store();
  const std::string text = report_text(store, {}, {});
  for (int id = 1; id <= 30; ++id) EXPECT_NE(text.find("#" + std::to_string(id) + " "), std::string::npos) << id;
  EXPECT_NE(text.find("1.250x (1.200x to 1.300x)"), std::string::npos) << text;
  EXPECT_NE(text.find("predicted 1.073x  measured 2.000x (1.900x to 2.100x)"), std::string::npos) << text;
  EXPECT_NE(text.find("rolled back"), std::string::npos);
  EXPECT_NE(text.find("2.000x (1.900x to 2.100x) faster"), std::string::npos);
  const Json j = report_json(store, {});
  EXPECT_EQ(j.at("experiments").size(), 30u);
  EXPECT_EQ(j.at("outcomes").at("kept"), 1);
  EXPECT_EQ(j.at("ledger").size(), 2u);
}

TEST(Report, AGateThatRefusedBeforeItTimedAnythingShowsNoTimes) {
  MemoryStore store = example_store();
  Commit c;
  c.ledger = {entry(3, 0.2, {}, false)};
  c.ledger[0].reason = "outputs are too far from float64";
  store.commit(c);
  const std::string text = report_text(store, {}, {});
  EXPECT_NE(text.find("predicted 1.221x  not measured  rolled back"), std::string::npos) << text;
  EXPECT_NE(text.find("outputs are too far from float64"), std::string::npos) << text;
}

TEST(Report, SaysWhichStepsRoundByABoundOfTheirOwn) {
  EXPECT_EQ(report_text(example_store(), {}, {}).find("rounds by a bound"), std::string::npos);
  MemoryStore store = example_store();
  Commit c;
  Plan plan;
  plan.steps = {step_of("softmax"), step_of("matmul"), step_of("matmul")};
  for (size_t s : {1, 2}) declare_algorithm(plan.steps[s].variant.problem, "strassen");
  PlanRecord record;
  record.id = 2;
  record.plan = plan;
  c.plans = {record};
  c.profiles = {{2, 2, 0.2, {0.050, 0.100, 0.050}, {0.010, 0.090, 0.010}}};
  LedgerEntry with_error = entry(3, 0.1, {0.1, 0.05, 0.15, 9}, true);
  with_error.error = 7e-7;
  with_error.error_ratio = 1.25;
  c.ledger = {with_error};
  store.commit(c);
  const std::string text = report_text(store, {}, {});
  EXPECT_NE(text.find("rounds by a bound of its own: strassen in 2 steps; the model's outputs are 7.0e-07 from float64, 1.2 times the starter's error"),
            std::string::npos)
      << text;
  EXPECT_EQ(report_json(store, {}).at("declared").at("strassen"), 2);
}

TEST(Report, StatusShowsTheLastFewExperiments) {
  const std::string text = report_text(example_store(), {}, {false, 3});
  EXPECT_NE(text.find("#30 "), std::string::npos);
  EXPECT_EQ(text.find("#3 "), std::string::npos) << text;
}

TEST(Report, AnEmptySessionIsReportable) {
  const std::string text = report_text(MemoryStore{}, {}, {});
  EXPECT_NE(text.find("not measured yet"), std::string::npos) << text;
  EXPECT_EQ(report_json(MemoryStore{}, {}).at("experiments").size(), 0u);
}

}  // namespace
}  // namespace amdahl
