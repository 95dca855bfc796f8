// What bench/ablation makes of a session, on sessions that are known.

#include <gtest/gtest.h>

#include <cmath>

#include "bench/ablation/arm.h"
#include "bench/ablation/policies.h"
#include "bench/ablation/timed_trials.h"
#include "bench/ablation/timeline.h"
#include "tests/tuner/simulated_trials.h"
#include "tuner/search/tuner.h"

namespace amdahl::ablation {
namespace {

using amdahl::testing::SimulatedTrials;

// Three wins of 10% on half of the model. Experiment 1 was proven and taken back with another; 3 was proven after 30 seconds, 2 after
// 100 and did not stand; 1 was taken up again and proven after 400.
class Timeline : public ::testing::Test {
 protected:
  Timeline() {
    Commit c;
    for (int64_t experiment : {0, 1, 3, 2, 1}) {
      PlanRecord plan;
      plan.id = static_cast<int64_t>(c.plans.size()) + 1;
      plan.experiment = experiment;
      c.plans.push_back(plan);
    }
    for (int64_t id = 1; id <= 3; ++id) {
      Experiment e;
      e.id = id;
      e.share = 0.5;
      e.gain.log = std::log(1.1);
      e.outcome = id == 2 ? Outcome::kReverted : Outcome::kKept;
      c.experiments.push_back(e);
    }
    store.commit(c);
  }
  MemoryStore store;
  const std::map<int64_t, double> proven_at{{1, 400.0}, {2, 100.0}, {3, 30.0}};
  const double one = -std::log(1 - 0.5 * (1 - 1 / 1.1));
};

TEST_F(Timeline, CountsWhatStoodFromItsProofOn) {
  const std::vector<Win> wins = wins_of(store, proven_at);
  ASSERT_EQ(wins.size(), 2u);
  EXPECT_NEAR(log_after(wins, 29), 0, 1e-12);
  EXPECT_NEAR(log_after(wins, 399), one, 1e-12);
  EXPECT_NEAR(log_after(wins, 400), 2 * one, 1e-12);
}

TEST_F(Timeline, KnowsThePlanOfEachMoment) {
  const std::vector<Win> wins = wins_of(store, proven_at);
  EXPECT_EQ(plan_after(wins, 10, 1), 1);
  EXPECT_EQ(plan_after(wins, 100, 1), 3);  // not 4, whose win did not stand
  EXPECT_EQ(plan_after(wins, 500, 1), 5);
}

TEST_F(Timeline, SaysWhenMostOfItWasThere) {
  const std::vector<Win> wins = wins_of(store, proven_at);
  EXPECT_EQ(seconds_to(wins, 0.5), 30);
  EXPECT_EQ(seconds_to(wins, 0.9), 400);
  EXPECT_EQ(seconds_to({}, 0.9), 0);
}

TEST(Policies, PlaybookOrderGoesDownTheListAndRoundAgain) {
  const PlaybookOrder policy;
  Offer early, late, early_tried;
  late.number = 9;
  late.gain = late.chance = 1;  // which it does not look at
  early_tried.tries = 6;
  EXPECT_GT(policy.priority(early), policy.priority(late));
  EXPECT_GT(policy.priority(late), policy.priority(early_tried));
}

TEST(Policies, RandomOrderLooksAtNothing) {
  const RandomOrder policy;
  Offer poor, rich;
  poor.luck = 0.1;
  rich.gain = rich.chance = 1;
  EXPECT_GT(policy.priority(poor), policy.priority(rich));
}

class RacingLaboratory : public SimulatedTrials {
 public:
  ScreenResult screen(const std::vector<Step>& challenger, const BuildResult& built, double bar) override {
    ScreenResult s = SimulatedTrials::screen(challenger, built, bar);
    s.race_seconds = screen_seconds / 4;
    ++races;
    return s;
  }
  int races = 0;
};

TEST(TimedTrials, EverySecondOfTheClockIsInOnePhase) {
  const Graph graph = amdahl::testing::chain_of_matmuls(4);
  RacingLaboratory machine;
  TimedTrials timed(machine);
  const amdahl::testing::TuneBlocks rewrite;
  MemoryStore store;
  TuneObserver observer;
  std::atomic<bool> stop = false;
  const double start = machine.clock;
  Tuner({graph, store, timed, {&rewrite}, {}, observer, stop}).run();
  double sum = 0;
  for (const auto& [phase, seconds] : timed.seconds()) {
    EXPECT_GT(seconds, 0) << phase;
    sum += seconds;
  }
  EXPECT_NEAR(sum, machine.clock - start, 1e-6);
  EXPECT_EQ(timed.seconds().size(), 6u);
  EXPECT_NEAR(timed.seconds().at("profile"), machine.profiles, 1e-6);
  EXPECT_NEAR(timed.seconds().at("race"), 0.25 * machine.screen_seconds * machine.races, 1e-6);
}

TEST(Arms, LeaveOutOneTierEach) {
  const std::vector<Arm> all = arms();
  ASSERT_EQ(all.size(), 9u);
  size_t left_out = 0;
  for (int tier = 1; tier <= 6; ++tier) {
    const Arm& arm = all[static_cast<size_t>(tier)];
    for (const Rewrite* r : arm.rewrites) EXPECT_NE(r->tier(), tier) << arm.name;
    left_out += all[0].rewrites.size() - arm.rewrites.size();
  }
  EXPECT_EQ(left_out, all[0].rewrites.size());
}

TEST(Table, HasARowAnArm) {
  Json moment = {{"minutes", 2.0}, {"gain", Gain{std::log(1.5), std::log(1.4), std::log(1.6), 6}}};
  const Json result = {{"arm", "without tier 3"}, {"moments", {moment}},        {"seconds", 100.0}, {"experiments", 10}, {"kept", 2},
                       {"seconds_to_90", 40.0},   {"phases", {{"build", 25.0}}}};
  const std::string text = table_of({result});
  EXPECT_NE(text.find("speed-up after 2 min"), std::string::npos) << text;
  EXPECT_NE(text.find("| without tier 3 | 1.50 [1.40, 1.60] | 360 | 2 | 10 | 40 | 25 |"), std::string::npos) << text;
}

}  // namespace
}  // namespace amdahl::ablation
