// What a win goes through on a simulated machine: its proof, pairs that do not count, its confirmation, the gate, the headline.

#include <gtest/gtest.h>

#include <algorithm>

#include "base/statistics.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "tests/tuner/loop_fixture.h"
#include "tuner/search/headline.h"
#include "tuner/search/proof.h"
#include "tuner/search/revert_newest_keep.h"

namespace amdahl {
namespace {

using testing::Loop;
using testing::SimulatedTrials;

// When a stage of a candidate's proof began.
double start_of(const SimulatedTrials& runner, const std::string& candidate, bool confirmation) {
  double at = 0;
  for (const SimulatedTrials::Stage& s : runner.stages)
    if (s.candidate == candidate && (s.first > 1) == confirmation) at = s.at;
  return at;
}

class HopelessBlocks final : public testing::TuneBlocks {
  Odds odds(std::string_view) const override { return {0.1, 1e-9}; }
};

TEST_F(Loop, KeepsNothingThatIsSlowerInTheMean) {
  MemoryStore store;
  runner.works = 1.2;
  tune(store);
  EXPECT_EQ(count(store, Outcome::kKept), 0);
  bool said = false;
  for (const Experiment& e : store.experiments()) said |= e.reason.find("slower in the mean") != std::string::npos;
  EXPECT_TRUE(said);
}

TEST_F(Loop, KeptGainsComeFromConfirmationPairs) {
  MemoryStore store;
  tune(store);
  ASSERT_GT(count(store, Outcome::kKept), 0);
  for (const Experiment& e : store.experiments()) {
    if (e.outcome != Outcome::kKept) continue;
    EXPECT_GE(e.confirm_log_ratios.size(), 9u);
    EXPECT_EQ(e.gain.pairs, static_cast<int>(e.confirm_log_ratios.size()));
    EXPECT_NEAR(e.gain.log, median(e.confirm_log_ratios), 1e-12);
    EXPECT_GT(e.gain.log, 0.01);
    EXPECT_EQ(e.occurrences, 4);
  }
}

TEST_F(Loop, AWinThatTheModelContradictsIsRolledBack) {
  runner.model_ignores_wins = true;
  options.experiments = 60;
  MemoryStore store;
  tune(store);
  EXPECT_EQ(Json(gated_plan(store)), Json(starter_plan(graph, 1, testing::simulated_target())));
  EXPECT_EQ(Json(head_plan(store)), Json(starter_plan(graph, 1, testing::simulated_target())));
  EXPECT_EQ(count(store, Outcome::kKept), 0);
  int reverted = 0;
  for (const Experiment& e : store.experiments()) reverted += e.stage == "gate" && e.outcome == Outcome::kReverted;
  EXPECT_GT(reverted, 0);
  ASSERT_FALSE(store.ledger().empty());
  for (const LedgerEntry& entry : store.ledger()) EXPECT_FALSE(entry.kept);
}

TEST_F(Loop, TheStagesOfAProofShareNoBuilds) {
  MemoryStore store;
  options.rules.fallback.rule.builds = 6;
  tune(store);
  int confirmations = 0;
  for (const SimulatedTrials::Stage& s : runner.stages) {
    EXPECT_EQ(s.count, 6);
    EXPECT_TRUE(s.first == 1 || s.first == 7);
    confirmations += s.first == 7;
  }
  EXPECT_GT(confirmations, 0);
}

TEST_F(Loop, NothingIsConfirmedTooEarly) {
  graph = testing::chain_of_matmuls(4, 128);
  runner.screen_seconds = 10;
  options.rules.fallback.rule.confirm_after = 50;
  MemoryStore store;
  tune(store);
  int kept = 0, waited = 0;
  for (const Experiment& e : store.experiments()) {
    if (e.outcome != Outcome::kKept) continue;
    ++kept;
    // Before the wait is over only when nothing else was left to do.
    const double confirmed_at = start_of(runner, e.candidate, true);
    EXPECT_TRUE(e.confirm_delay >= 50 || confirmed_at > runner.last_screen) << e.confirm_delay;
    EXPECT_GE(confirmed_at - start_of(runner, e.candidate, false), e.confirm_delay);
    waited += e.confirm_delay >= 50;
  }
  EXPECT_GT(kept, 1);
  EXPECT_GT(waited, 0);
}

TEST_F(Loop, AWinThatDoesNotConfirmIsRolledBack) {
  runner.loses_later = [](const Step&) { return 0.5; };
  options.experiments = 60;
  MemoryStore store;
  tune(store);
  EXPECT_TRUE(Json(gated_plan(store)) == Json(starter_plan(graph, 1, testing::simulated_target())));
  EXPECT_TRUE(Json(head_plan(store)) == Json(starter_plan(graph, 1, testing::simulated_target())));
  EXPECT_EQ(count(store, Outcome::kKept), 0);
  EXPECT_TRUE(store.ledger().empty());
  int failed = 0;
  for (const Experiment& e : store.experiments()) {
    EXPECT_NE(e.stage, "proven") << "left behind";
    if (e.stage != "confirm") continue;
    ++failed;
    EXPECT_EQ(e.outcome, Outcome::kReverted);
    EXPECT_EQ(e.gain.pairs, 0);
  }
  EXPECT_GT(failed, 0);
}

TEST_F(Loop, AWinBesideOneThatDoesNotConfirmStays) {
  graph = testing::chain_of_matmuls(4, 128);
  const auto is_last = [](const Step& s) { return s.outputs[0].value == testing::chain_of_matmuls(4, 128).outputs[0]; };
  // The three equal products gain nothing when they are looked at again; the last one does.
  runner.loses_later = [&](const Step& s) { return is_last(s) ? 0.0 : 0.5; };
  MemoryStore store;
  tune(store);
  expect_sound(store);
  int failed = 0;
  for (const Experiment& e : store.experiments()) {
    failed += e.stage == "confirm" && e.outcome == Outcome::kReverted;
    EXPECT_NE(e.stage, "gate") << e.reason;
    const auto proofs = std::count_if(runner.stages.begin(), runner.stages.end(), [&](const auto& s) { return s.candidate == e.candidate && s.first == 1; });
    if (e.outcome == Outcome::kKept) {
      EXPECT_EQ(proofs, 1) << "proven again";
    }
  }
  EXPECT_GT(failed, 0);
  const Plan start = starter_plan(graph, 1, testing::simulated_target()), plan = gated_plan(store);
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    if (is_last(plan.steps[i])) {
      EXPECT_NEAR(SimulatedTrials::seconds_of(plan.steps[i]), 1e-3, 0.02e-3);
    } else {
      EXPECT_EQ(plan.steps[i].variant.id(), start.steps[i].variant.id());
    }
  }
}

// Two of three pairs of the first products agree, by a percent: to prove that takes longer than all of the last product, which nobody has looked at.
class ProofsThatWait : public Loop {
 protected:
  static bool is_last(const Step& s) { return s.outputs[0].value == testing::chain_of_matmuls(3, 128).outputs[0]; }
  // Of the first stage, in order of time.
  std::vector<std::string> proofs() const {
    std::vector<std::string> ids;
    for (const SimulatedTrials::Stage& s : runner.stages)
      if (s.first == 1) ids.push_back(s.candidate);
    return ids;
  }
  void SetUp() override {
    graph = testing::chain_of_matmuls(3, 128);
    runner.paired = [&](const Step& s, int first_build) -> std::optional<double> {
      if (is_last(s) || first_build > 1) return std::nullopt;
      return ++pairs % 3 == 0 && pairs <= agree_after ? -0.001 : 0.0102;
    };
  }
  int pairs = 0, agree_after = 6;
};

TEST_F(ProofsThatWait, GoOnWithAllTheirPairs) {
  MemoryStore store;
  EXPECT_EQ(tune(store).end, TuneEnd::kConverged);
  expect_sound(store);
  const std::vector<std::string> ids = proofs();
  ASSERT_GE(ids.size(), 3u);
  const std::string waited = ids[0];
  EXPECT_NE(ids[1], waited) << "nothing came between";
  EXPECT_EQ(std::count(ids.begin(), ids.end(), waited), 2) << "given up once, taken up once";
  for (const Experiment& e : store.experiments()) {
    if (e.candidate != waited || e.outcome != Outcome::kKept) continue;
    EXPECT_EQ(static_cast<int>(e.prove_log_ratios.size()), pairs);
    EXPECT_EQ(std::count(e.prove_log_ratios.begin(), e.prove_log_ratios.end(), -0.001), 2) << "pairs that spoke against it count";
    return;
  }
  FAIL() << "the win was lost";
}

TEST_F(ProofsThatWait, FailInTheEndWhenPairsGoOnSo) {
  agree_after = 1 << 30;
  MemoryStore store;
  EXPECT_EQ(tune(store).end, TuneEnd::kConverged);
  for (const Experiment& e : store.experiments()) {
    if (e.candidate != proofs()[0]) continue;
    EXPECT_EQ(e.stage, "prove") << e.reason;
    EXPECT_LE(e.prove_log_ratios.size(), 48u);
  }
}

TEST_F(ProofsThatWait, AreTakenUpByAResumedRun) {
  struct StopWhenOneWaits : TuneObserver {
    std::atomic<bool> stop = false;
    void on_experiment(const Experiment& e) override { stop = stop || waits(e); }
    static bool waits(const Experiment& e) { return e.stage == "race" && !e.prove_log_ratios.empty(); }
  } observer;
  MemoryStore store;
  EXPECT_EQ(Tuner(context(store, observer, observer.stop)).run().end, TuneEnd::kStopped);
  const int before = pairs;
  runner.clock = 5;  // another boot
  EXPECT_EQ(tune(store).end, TuneEnd::kConverged);
  const std::string waited = proofs()[0];
  for (const Experiment& e : store.experiments()) {
    EXPECT_FALSE(StopWhenOneWaits::waits(e)) << e.id;
    if (e.candidate != waited) continue;
    EXPECT_EQ(e.outcome, Outcome::kKept) << e.reason;
    EXPECT_EQ(static_cast<int>(e.prove_log_ratios.size()), pairs);
  }
  EXPECT_EQ(before, 9);
}

// Found by a session of BERT-base: a replacement names values of the graph, not those of its window.
TEST_F(ProofsThatWait, GoOnWhereNothingIsLeftToTry) {
  struct StopWhenOneWaits : TuneObserver {
    std::atomic<bool> stop = false;
    void on_experiment(const Experiment& e) override { stop = stop || (e.stage == "race" && !e.prove_log_ratios.empty()); }
  } observer;
  MemoryStore store;
  EXPECT_EQ(Tuner(context(store, observer, observer.stop)).run().end, TuneEnd::kStopped);
  const size_t tried = store.experiments().size();
  const HopelessBlocks hopeless;
  offered = &hopeless;
  tune(store, 2);  // raced again, and proven
  EXPECT_EQ(store.experiments().size(), tried) << "nothing new is tried before it";
  for (const Experiment& e : store.experiments())
    if (e.candidate == proofs()[0]) EXPECT_EQ(e.stage, "proven") << e.reason;
}

TEST_F(Loop, AStepThatTheHeadlineContradictsIsTakenOut) {
  options.experiments = 40;
  MemoryStore store;
  tune(store);
  const LedgerEntry newest = store.ledger().back();
  ASSERT_TRUE(newest.kept);
  const double proven = store.state().at("proven_log");
  EXPECT_TRUE(revert_newest_keep(store, {-0.2, -0.3, -0.1, 12}));
  EXPECT_FALSE(store.ledger().back().kept);
  EXPECT_EQ(store.state().at("gated").get<int64_t>(), newest.plan_before);
  EXPECT_NEAR(store.state().at("proven_log").get<double>(), proven - newest.measured.log, 1e-12);
  for (int64_t id : newest.experiments) EXPECT_EQ(store.experiments()[static_cast<size_t>(id - 1)].outcome, Outcome::kReverted);
  while (revert_newest_keep(store, {-0.2, -0.3, -0.1, 12})) {
  }
  EXPECT_TRUE(Json(gated_plan(store)) == Json(starter_plan(graph, 1, testing::simulated_target())));
  EXPECT_EQ(count(store, Outcome::kKept), 0);
  options.experiments = 80;  // the session goes on
  tune(store);
  expect_sound(store);
}

TEST_F(Loop, ImpossibleTimesAreNeverCountedAndEndAProofInTheEnd) {
  runner.impossible = [](int pair) { return pair == 2; };
  options.experiments = 30;
  MemoryStore one;
  tune(one);
  EXPECT_GT(count(one, Outcome::kKept), 0);
  EXPECT_EQ(count(one, Outcome::kMistrusted), 0);
  runner.impossible = [](int) { return true; };
  MemoryStore all;
  tune(all);
  EXPECT_EQ(count(all, Outcome::kKept), 0);
  ASSERT_GT(count(all, Outcome::kMistrusted), 0);
  for (const Experiment& e : all.experiments()) EXPECT_TRUE(e.outcome != Outcome::kMistrusted || (e.code == "below-floor" && e.prove_log_ratios.empty()));
}

// The challenger loses every pair; one time below a floor does not spare it that pair.
TEST_F(Loop, AnImpossibleTimeCountsAgainstTheChallenger) {
  const Plan starter = starter_plan(graph, 1, testing::simulated_target());
  Step faster = starter.steps[0];
  faster.variant.knobs["MR"] = 8;
  WindowTask task;
  task.incumbent = {faster};
  for (const bool loses : {true, false}) {
    const std::vector<Step> challenger{loses ? starter.steps[0] : faster};
    task.incumbent = {loses ? faster : starter.steps[0]};
    runner.enter(task);
    runner.stages = {{"", 1, 8, 0}};
    runner.pairs = 0;
    runner.impossible = [](int pair) { return pair == 2; };
    Random random(1);
    const Evidence evidence = gather_evidence(runner, DecisionRule{}, challenger, {}, 1, random, [](const auto&) { return false; });
    EXPECT_EQ(evidence.dropped.size(), loses ? 0u : 1u);
    EXPECT_EQ(evidence.end, loses ? Evidence::End::kFailed : Evidence::End::kPassed);
  }
}

// The sides of what is dropped balance: a challenger whose lost pairs are all called disturbed loses them all the same.
TEST_F(Loop, DroppedLossesCountWhereNoWinsAreDroppedBesideThem) {
  const Plan starter = starter_plan(graph, 1, testing::simulated_target());
  WindowTask task;
  task.incumbent = {starter.steps[0]};
  runner.enter(task);
  for (const bool balanced : {false, true}) {
    int pair = 0;
    runner.paired = [&](const Step&, int) { return std::optional(pair++ % 8 < 3 ? -1.0 : 0.1); };
    runner.disturbed = [&](double log_ratio) { return log_ratio < 0 || (balanced && pair % 2 == 0); };
    Random random(1);
    runner.stages = {{"", 1, 8, 0}};
    const Evidence evidence = gather_evidence(runner, DecisionRule{}, {starter.steps[0]}, {}, 1, random, [](const auto&) { return false; });
    EXPECT_EQ(evidence.end, Evidence::End::kFailed);
    int losses = 0, dropped_losses = 0, dropped_wins = 0;
    for (double r : evidence.log_ratios) losses += r < 0;
    for (double r : evidence.dropped) ++(r < 0 ? dropped_losses : dropped_wins);
    EXPECT_LE(dropped_losses, dropped_wins);
    EXPECT_GT(losses, 0);
  }
}

// A disturbance that comes whoever wins leaves an honest gain as it is.
TEST_F(Loop, AGainIsProvenOnAMachineThatIsOftenDisturbed) {
  const Plan starter = starter_plan(graph, 1, testing::simulated_target());
  WindowTask task;
  task.incumbent = {starter.steps[0]};
  runner.enter(task);
  int pair = 0;
  runner.paired = [&](const Step&, int) { return std::optional(++pair % 9 == 0 ? -0.02 : 0.06); };
  runner.disturbed = [&](double) { return pair % 3 == 0; };
  runner.stages = {{"", 1, 8, 0}};
  Random random(1);
  EXPECT_EQ(gather_evidence(runner, DecisionRule{}, {starter.steps[0]}, {}, 1, random, [](const auto&) { return false; }).end, Evidence::End::kPassed);
}

}  // namespace
}  // namespace amdahl
