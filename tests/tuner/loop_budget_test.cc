// The loop with a budget of time: what it sets aside for its end, what may run over, what waits for a resumed run.

#include <gtest/gtest.h>

#include <algorithm>

#include "starter_kernels/cpu/cpu_target.h"
#include "tests/tuner/loop_fixture.h"
#include "tuner/search/headline.h"

namespace amdahl {
namespace {

using testing::SimulatedTrials;

class LoopBudget : public testing::Loop {};

TEST_F(LoopBudget, AShortBudgetWaitsForATenthOfWhatIsLeft) {
  runner.screen_seconds = 2;
  options.seconds = 400;
  MemoryStore store;
  tune(store);
  ASSERT_GT(count(store, Outcome::kKept), 0);
  double shortest = 1e9;
  for (const Experiment& e : store.experiments())
    if (e.outcome == Outcome::kKept) shortest = std::min(shortest, e.confirm_delay);
  EXPECT_LT(shortest, 40);
  EXPECT_LT(runner.clock - 1000, 1.1 * options.seconds + 30);
}

// Three shapes, a win each: one gate at the end where gates are dear, more where they are cheap.
TEST_F(LoopBudget, AGateBeforeTheLastTakesLittleOfWhatIsLeft) {
  graph = testing::chain_of_matmuls(4, 128);
  options.seconds = 1500;
  options.rules.fallback.rule.confirm_after = 1;
  runner.screen_seconds = 5;
  MemoryStore cheap, dear;
  tune(cheap);
  EXPECT_GT(cheap.ledger().size(), 1u);
  runner = {};
  runner.screen_seconds = 5;
  runner.model_seconds = 40;
  tune(dear);
  EXPECT_EQ(dear.ledger().size(), 1u);
  EXPECT_TRUE(Json(gated_plan(dear)) == Json(head_plan(dear)));
}

// A model whose pair of processes takes twelve seconds: what ends the session is paid out of its budget, the headline included.
TEST_F(LoopBudget, TimeForTheGateAndTheHeadlineIsSetAside) {
  options.seconds = 600;
  options.rules.fallback.rule.confirm_after = 1;
  runner.screen_seconds = 12;
  runner.model_seconds = 8;
  graph = testing::chain_of_matmuls(4, 128);
  MemoryStore store;
  const double start = runner.clock;
  ASSERT_EQ(tune(store).end, TuneEnd::kTimeUp);
  ASSERT_GT(store.ledger().size(), 0u);
  HeadlineOptions headline;
  headline.out_of_time = [&] { return runner.clock - start > options.seconds; };
  measure_headline(runner, starter_plan(graph, 1, testing::simulated_target()), gated_plan(store), headline);
  EXPECT_LT(runner.clock - start, 1.03 * options.seconds);
}

// Wins that the model contradicts together are halved until the culprit is found, a gate each; here the first one took all the time there was.
TEST_F(LoopBudget, AGateThatRanOverLeavesTheRestToAResumedRun) {
  struct SlowGates : TuneObserver {
    explicit SlowGates(SimulatedTrials& of) : runner(of) {}
    void on_ledger(const LedgerEntry&) override { runner.clock += 1000; }
    SimulatedTrials& runner;
  } slow(runner);
  graph = testing::chain_of_matmuls(4, 128);
  options.seconds = 1500;
  options.rules.fallback.rule.confirm_after = 1;
  runner.screen_seconds = 5;
  runner.model_seconds = 40;
  runner.model_ignores_wins = true;
  MemoryStore store;
  const std::atomic<bool> never = false;
  const TuneSummary summary = Tuner(context(store, slow, never)).run();
  ASSERT_EQ(store.ledger().size(), 1u) << "halving goes on though time was up long ago";
  EXPECT_FALSE(store.ledger()[0].kept);
  EXPECT_GT(store.ledger()[0].experiments.size(), 1u);
  EXPECT_NE(summary.why.find("resume"), std::string::npos) << summary.why;
  EXPECT_TRUE(Json(gated_plan(store)) == Json(starter_plan(graph, 1, testing::simulated_target())));
  EXPECT_FALSE(Json(head_plan(store)) == Json(starter_plan(graph, 1, testing::simulated_target())));
  options.seconds = 20000;
  runner.model_ignores_wins = false;
  tune(store);
  ASSERT_GT(store.ledger().size(), 1u);
  EXPECT_TRUE(store.ledger()[1].kept);
  EXPECT_EQ(store.ledger()[1].experiments, store.ledger()[0].experiments);
}

// Six candidates of 22 s each would take all of the time that is left, and the first of them has won its race.
TEST_F(LoopBudget, AWinIsProvenBeforeTheRestOfItsBurstTakesTheTime) {
  options.seconds = 110;
  runner.screen_seconds = 22;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    options.seed = seed;
    MemoryStore store;
    runner.pairs = 0;
    tune(store);
    bool won = false;
    for (const Experiment& e : store.experiments()) won |= e.race_log_ratio > 0.03;
    EXPECT_EQ(runner.pairs > 0, won) << "seed " << seed << ": a win without its proof is worth nothing";
  }
}

// Confirmations that take a minute from some time on, where the proofs took three seconds, as beside a build that was started meanwhile: what they leave
// undecided waits, and the plan that is kept has its headline.
TEST_F(LoopBudget, AMachineThatGetsSlowerTakesNoHeadline) {
  graph = testing::chain_of_matmuls(4, 128);
  runner.screen_seconds = 5;
  runner.model_seconds = 5;
  MemoryStore store;
  double start = 0, slow_from = 0;  // by the clock, and after the start
  runner.paired = [&](const Step&, int first_build) -> std::optional<double> {
    if (first_build > 1 && runner.clock - start > slow_from) runner.clock += 8;
    return std::nullopt;
  };
  int with_plan = 0;
  for (const double budget : {280.0, 320.0})
    for (const double share : {0.4, 0.5, 0.6, 0.7}) {
      store = {};
      options.seconds = budget;
      start = runner.clock;
      slow_from = share * budget;
      tune(store);
      if (store.ledger().empty() || !store.ledger()[0].kept) continue;
      ++with_plan;
      HeadlineOptions headline;
      headline.out_of_time = [&] { return runner.clock - start > budget; };
      headline.must_stop = [&] { return runner.clock - start > latest_headline(budget); };
      EXPECT_GE(measure_headline(runner, starter_plan(graph, 1, testing::simulated_target()), gated_plan(store), headline).gain.pairs, kFewestHeadlinePairs)
          << budget << ' ' << share;
      EXPECT_LE(runner.clock - start, budget + overrun_allowed(budget)) << budget << ' ' << share;
    }
  EXPECT_GT(with_plan, 4);
}

TEST_F(LoopBudget, ARunOfASessionThatWasGivenLittleTimeSearchesAllTheSame) {
  graph = testing::chain_of_matmuls(4, 128);
  options.experiments = 8;
  MemoryStore store;
  tune(store);
  ASSERT_GT(store.ledger().size(), 0u) << "a headline has to be due";
  options.experiments = 0;
  options.seconds = store.state().at("seconds").get<double>() + 6;  // its headline takes longer
  EXPECT_EQ(tune(store).end, TuneEnd::kTimeUp);
  EXPECT_GT(store.experiments().size(), 8u);
}

TEST_F(LoopBudget, TimeBudgetCountsEarlierRuns) {
  MemoryStore store;
  options.experiments = 5;
  tune(store);
  Commit c;
  Json state = store.state();
  state["seconds"] = 100.0;
  c.state = state;
  store.commit(c);
  options.experiments = 0;
  options.seconds = 50;
  EXPECT_EQ(tune(store).end, TuneEnd::kTimeUp);
  EXPECT_EQ(store.experiments().size(), 5u);
}

// Whatever a window, a proof, a gate and a check of the model take on this machine: with the headline the session ends within what is promised.
TEST_F(LoopBudget, ASessionEndsWithinATenthOrTwentySeconds) {
  graph = testing::chain_of_matmuls(4, 128);
  for (const double budget : {30.0, 60.0, 300.0}) {
    for (const double model : {0.1, 2.0, 5.0}) {
      for (const double screen : {0.2, 4.0}) {
        runner = {};
        runner.model_seconds = model;
        runner.check_seconds = model;
        runner.screen_seconds = screen;
        options.seconds = budget;
        MemoryStore store;
        const double start = runner.clock;
        runner.clock += 3;  // spent on the machine's ceilings
        std::atomic<bool> never = false;
        TuneObserver nobody;
        Tuner(context(store, nobody, never)).run(/*seconds_before=*/3);
        HeadlineOptions headline;
        const auto spent = [&] { return runner.clock - start; };
        headline.out_of_time = [&] { return spent() > budget; };
        headline.must_stop = [&] { return spent() > budget + 0.9 * overrun_allowed(budget); };
        if (!store.ledger().empty()) measure_headline(runner, starter_plan(graph, 1, testing::simulated_target()), gated_plan(store), headline);
        EXPECT_LT(spent(), budget + std::max(0.1 * budget, 20.0)) << budget << " s, a profile " << model << " s, a candidate " << screen << " s";
        EXPECT_NEAR(store.state().at("seconds").get<double>(), spent(), 0.4 * budget + 20) << "what came before counts";
        EXPECT_GE(store.state().at("seconds").get<double>(), 3);
      }
    }
  }
}

// A model that runs for a tenth of a millisecond has an end as short: most of its time is searched in.
TEST_F(LoopBudget, WhatClosesASessionOfASmallModelIsNotGuessedLong) {
  graph = testing::chain_of_matmuls(4, 128);
  options.seconds = 60;
  runner.model_seconds = 0.2;
  MemoryStore store;
  tune(store);
  EXPECT_GT(runner.last_screen, 1000 + 0.5 * options.seconds);
}

// Others have the processors: steps seem at their floors. Later they are gone.
class LoopBesideOthers : public testing::Loop {
 protected:
  void be_busy_until(double end) {
    runner.change_profile = [this, end](Profile& p) {
      if (runner.clock > end) return;
      p.busy = 0.5;
      for (StepProfile& s : p.steps) s.floor.seconds = 2 * s.seconds;
    };
  }
};

TEST_F(LoopBesideOthers, HeadroomBelowZeroEndsNoRunThatHasTime) {
  be_busy_until(1100);
  options.seconds = 400;
  MemoryStore store;
  tune(store);
  EXPECT_GT(count(store, Outcome::kKept), 0);
}

TEST_F(LoopBesideOthers, ARunWithoutABudgetWaitsForSomeMinutesAndSaysWhatItDoesNotKnow) {
  be_busy_until(1e9);
  MemoryStore store;
  const TuneSummary s = tune(store);
  EXPECT_EQ(s.end, TuneEnd::kBusy);
  EXPECT_NE(s.why.find("50% of the processors"), std::string::npos) << s.why;
  EXPECT_NE(s.why.find("resume"), std::string::npos) << s.why;
  EXPECT_GT(runner.clock - 1000, 120);
  EXPECT_LT(runner.clock - 1000, 1200);
}

TEST_F(LoopBesideOthers, AWaitKeepsTheBudget) {
  be_busy_until(1e9);
  options.seconds = 100;
  MemoryStore store;
  EXPECT_NE(tune(store).end, TuneEnd::kConverged);
  EXPECT_GT(runner.clock - 1000, 60);
  EXPECT_LT(runner.clock - 1000, 120);
}

TEST_F(LoopBesideOthers, AQuietMachineWithoutHeadroomEndsAtOnce) {
  runner.change_profile = [](Profile& p) {
    for (StepProfile& s : p.steps) s.floor.seconds = 2 * s.seconds;
  };
  MemoryStore store;
  EXPECT_EQ(tune(store).end, TuneEnd::kConverged);
  EXPECT_LT(runner.clock - 1000, 10);
}

}  // namespace
}  // namespace amdahl
