// What bench/ablation makes of a session, on sessions that are known.

#include <gtest/gtest.h>

#include <cmath>

#include "bench/ablation/arm.h"
#include "bench/ablation/policies.h"
#include "bench/ablation/timed_laboratory.h"
#include "bench/ablation/timeline.h"
#include "tests/tuner/simulated_laboratory.h"
#include "tuner/tuner.h"

namespace amdahl::ablation {
namespace {

using amdahl::testing::SimulatedLaboratory;

// Experiments 1, 2, 3 were proven after 30, 100 and 400 seconds, each 10% of half of the model; the second did not stand.
class Timeline : public ::testing::Test {
 protected:
  Timeline() {
    Commit c;
    c.plans.resize(4);
    for (int64_t id = 0; id < 4; ++id) {
      c.plans[static_cast<size_t>(id)].id = id + 1;
      c.plans[static_cast<size_t>(id)].experiment = id;
      c.plans[static_cast<size_t>(id)].rolled_back = id == 2;
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
  const std::map<int64_t, double> proven_at{{1, 30.0}, {2, 100.0}, {3, 400.0}};
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
  EXPECT_EQ(plan_after(wins, 100, 1), 2);  // not 3, which was taken back
  EXPECT_EQ(plan_after(wins, 500, 1), 4);
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

TEST(TimedLaboratory, EverySecondOfTheClockIsInOnePhase) {
  const Graph graph = amdahl::testing::chain_of_matmuls(4);
  SimulatedLaboratory machine;
  TimedLaboratory timed(machine);
  const amdahl::testing::TuneBlocks rewrite;
  MemoryStore store;
  TuneObserver observer;
  std::atomic<bool> stop = false;
  const double start = machine.clock;
  Tuner tuner(graph, store, timed, {&rewrite}, {}, observer, stop);
  tuner.run();
  double sum = 0;
  for (const auto& [phase, seconds] : timed.seconds()) {
    EXPECT_GT(seconds, phase == "race" ? -1 : 0) << phase;  // this machine races in no time
    sum += seconds;
  }
  EXPECT_NEAR(sum, machine.clock - start, 1e-6);
  EXPECT_EQ(timed.seconds().size(), 6u);
  EXPECT_NEAR(timed.seconds().at("profile"), machine.profiles, 1e-6);
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
  const Json result = {{"arm", "without tier 3"}, {"moments", {moment}}, {"seconds", 100.0}, {"experiments", 10}, {"kept", 2},
                       {"seconds_to_90", 40.0}, {"phases", {{"build", 25.0}}}};
  const std::string text = table_of({result});
  EXPECT_NE(text.find("speed-up after 2 min"), std::string::npos) << text;
  EXPECT_NE(text.find("| without tier 3 | 1.50 [1.40, 1.60] | 360 | 2 | 10 | 40 | 25 |"), std::string::npos) << text;
}

}  // namespace
}  // namespace amdahl::ablation
