// The loop on a simulated machine: what it decides, keeps, rolls back and resumes.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "tests/tuner/loop_fixture.h"
#include "tuner/search/headline.h"
#include "tuner/search/proof.h"
#include "tuner/search/revert_newest_keep.h"

namespace amdahl {
namespace {

using testing::Loop;
using testing::SimulatedLaboratory;
using testing::StopAfter;

// Dies at the n-th commit, before or after it is stored.
class DyingStore : public MemoryStore {
 public:
  struct Killed {};
  int lives = 1 << 30;
  bool after = false;
  void commit(const Commit& c) override {
    if (--lives == 0 && !after) throw Killed{};
    MemoryStore::commit(c);
    if (lives == 0) throw Killed{};
  }
};

TEST_F(Loop, KeepsNothingThatIsSlowerInTheMean) {
  MemoryStore store;
  lab.works = 1.2;
  tune(store);
  EXPECT_EQ(count(store, Outcome::kKept), 0);
  bool said = false;
  for (const Experiment& e : store.experiments()) said |= e.reason.find("slower in the mean") != std::string::npos;
  EXPECT_TRUE(said);
}

TEST_F(Loop, FindsTheOptimumAndAppliesItEverywhere) {
  MemoryStore store;
  const TuneSummary s = tune(store);
  EXPECT_EQ(s.end, TuneEnd::kConverged);
  expect_sound(store);
  const Plan plan = gated_plan(store);
  for (const Step& step : plan.steps) EXPECT_NEAR(SimulatedLaboratory::seconds_of(step), 1e-3, 0.02e-3);
  EXPECT_NEAR(s.status.current_seconds, 4e-3, 0.08e-3);
  EXPECT_NEAR(s.status.proven_log_speedup, std::log(s.status.baseline_seconds / s.status.current_seconds), 0.02);
  for (const LedgerEntry& entry : store.ledger()) {
    EXPECT_TRUE(entry.kept) << entry.reason;
    EXPECT_NEAR(entry.predicted, entry.measured.log, 0.02);
  }
}

// A neighbour slowed the incumbent while this form raced it. Others race the form, not the incumbent again, and are not asked to be as lucky.
TEST_F(Loop, ALuckyRaceDoesNotEndTheSearch) {
  bool luck_left = true;
  lab.luck = [&](const Step& step) { return step.variant.knobs.at("KC") == 192 && std::exchange(luck_left, false) ? 0.5 : 0; };
  MemoryStore store;
  tune(store);
  ASSERT_FALSE(luck_left);
  for (const Experiment& e : store.experiments())
    EXPECT_FALSE(e.outcome == Outcome::kKept && e.knobs.value("KC", 0) == 192) << "proven for its luck, with better forms unseen";
}

class TuneBlocksInBf16 final : public testing::TuneBlocks {
  std::string_view wants_allowed() const override { return "bf16"; }
};

TEST_F(Loop, GivesUpPrecisionOnlyWhereItMay) {
  const TuneBlocksInBf16 reduced;
  offered = &reduced;
  MemoryStore strict, allowed;
  tune(strict);
  EXPECT_EQ(strict.experiments().size(), 0u);
  options.allow_bf16 = true;
  tune(allowed);
  EXPECT_GT(count(allowed, Outcome::kKept), 0);
  EXPECT_TRUE(allowed.options().at("allow_bf16").get<bool>());  // a resumed run may still
}

class RoundsMore final : public testing::TuneBlocks {
  std::string_view wants_allowed() const override { return "bf16"; }
  bool costs_accuracy() const override { return true; }
  std::optional<Match> match(const RewriteContext& context, int anchor, std::string* refusal) const override {
    std::optional<Match> match = TuneBlocks::match(context, anchor, refusal);
    if (match) match->replacement[0].variant.problem.params["declared"] = "bf16_strassen";
    return match;
  }
};

TEST_F(Loop, OffersWhatCostsAccuracyOnlyWhereTheModelCanHaveItEverywhere) {
  const RoundsMore rounds_more;
  offered = &rounds_more;
  options.allow_bf16 = true;
  options.max_error = 0.02;
  MemoryStore too_much, within;
  lab.model_error = 0.021;
  tune(too_much);
  EXPECT_EQ(too_much.experiments().size(), 0u);
  lab = {};
  lab.model_error = 0.019;
  tune(within);
  EXPECT_GT(count(within, Outcome::kKept), 0);

  // Nor is it taken from an earlier session that could have it.
  WisdomPlace allowing;
  allowing.allowed = "bf16";
  known = known_at(proven_forms(graph, within, allowing, "chain", 1), allowing);
  ASSERT_EQ(known.size(), 1u);
  MemoryStore another;
  lab = {};
  lab.model_error = 0.021;
  tune(another);
  EXPECT_EQ(another.experiments().size(), 0u);
}

TEST(GateLimit, IsTheUsersWherePrecisionMayBeGivenUp) {
  TuneOptions options;
  options.max_error = 0.01;
  EXPECT_LT(options.gate().limit(1e-7), 1e-5);
  options.allow_bf16 = true;
  EXPECT_EQ(options.gate().limit(1e-7), 0.01);
}

// What a session proved, as the next one finds it.
std::map<std::string, WisdomForm> learnt_from(const Graph& graph, const SessionStore& store) {
  return known_at(proven_forms(graph, store, {}, "chain", 1), {});
}

TEST_F(Loop, WhatASessionProvedIsTriedFirstInTheNext) {
  MemoryStore first, second;
  tune(first);
  known = learnt_from(graph, first);
  ASSERT_EQ(known.size(), 1u);  // four equal windows
  EXPECT_NEAR(known.begin()->second.log_gain, first.state().at("proven_log").get<double>(), 0.02);
  graph = testing::chain_of_matmuls(7);  // another model with such windows
  lab = {};
  options.experiments = 1;
  tune(second);
  ASSERT_EQ(second.experiments().size(), 1u);
  EXPECT_EQ(second.experiments()[0].outcome, Outcome::kKept);
  EXPECT_EQ(second.experiments()[0].occurrences, 7);
  EXPECT_FALSE(lab.stages.empty()) << "kept without a proof of its own";
  for (const Step& step : gated_plan(second).steps) EXPECT_NEAR(SimulatedLaboratory::seconds_of(step), 1e-3, 0.02e-3);
}

// The mark goes with the form, and with a text in it, into the session and on into its own wisdom.
TEST_F(Loop, WhatComesFromOutsideSaysSo) {
  MemoryStore first, second, third;
  tune(first);
  known = learnt_from(graph, first);
  ASSERT_EQ(known.size(), 1u);
  EXPECT_EQ(known.begin()->second.origin, "");
  known.begin()->second.origin = "friend.db, 2026-11-27";
  lab = {};
  tune(second);
  ASSERT_FALSE(second.experiments().empty());
  EXPECT_EQ(second.experiments()[0].origin, "friend.db, 2026-11-27");
  EXPECT_NE(second.experiments()[0].object_code, "");
  for (const Experiment& e : second.experiments())
    if (e.id > 1) EXPECT_EQ(e.origin, "") << "its own search";
  EXPECT_EQ(learnt_from(graph, second).begin()->second.origin, "") << "a text of this program, proven here";

  for (Step& step : known.begin()->second.steps) step.variant.source_override = "a friend's text";
  lab = {};
  tune(third);
  EXPECT_EQ(third.experiments()[0].origin, "friend.db, 2026-11-27");
  ASSERT_EQ(third.experiments()[0].outcome, Outcome::kKept);
  EXPECT_EQ(learnt_from(graph, third).begin()->second.origin, "friend.db, 2026-11-27") << "the text is a friend's still";
}

TEST_F(Loop, WhatIsKnownIsJudgedAgainAndTriedOnce) {
  MemoryStore first, second;
  tune(first);
  known = learnt_from(graph, first);
  const Knobs best = known.begin()->second.steps[0].variant.knobs;
  lab = {};
  lab.verdict = [&](const Knobs& k) -> std::optional<Failure> {
    if (k == best) return Failure{Outcome::kWrong, "wrong-value", "numerics", "y[0] is 1, should be 2", 1};
    return std::nullopt;
  };
  tune(second);
  expect_sound(second);
  EXPECT_EQ(second.experiments()[0].outcome, Outcome::kWrong);
  EXPECT_GT(second.experiments().size(), 10u) << "the search goes on without it";
  EXPECT_EQ(count(second, Outcome::kKept), 0);  // there is no other form that is better
}

TEST_F(Loop, WhatWasRolledBackIsNoWisdom) {
  lab.model_ignores_wins = true;
  options.experiments = 40;
  MemoryStore store;
  tune(store);
  EXPECT_TRUE(learnt_from(graph, store).empty());
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

TEST_F(Loop, FailuresAreRecordedAndTheRunGoesOn) {
  lab.fails_to_build = [](const Knobs& k) { return k.at("MR") == 1; };
  lab.verdict = [](const Knobs& k) -> std::optional<Failure> {
    if (k.at("MR") == 2) return Failure{Outcome::kCrashed, "crashed", "smoke", "SIGSEGV", 1};
    if (k.at("MR") == 4) return Failure{Outcome::kWrong, "wrong-value", "numerics", "y[0] is 1, should be 2", 1};
    return std::nullopt;
  };
  MemoryStore store;
  tune(store);
  expect_sound(store);
  EXPECT_GT(count(store, Outcome::kBuildFailed), 0);
  EXPECT_GT(count(store, Outcome::kCrashed), 0);
  EXPECT_GT(count(store, Outcome::kWrong), 0);
  EXPECT_GT(count(store, Outcome::kKept), 0);
  for (const Step& step : gated_plan(store).steps) EXPECT_GE(step.variant.knobs.at("MR"), 6);
}

TEST_F(Loop, AWinThatTheModelContradictsIsRolledBack) {
  lab.model_ignores_wins = true;
  options.experiments = 60;
  MemoryStore store;
  tune(store);
  EXPECT_EQ(Json(gated_plan(store)), Json(starter_plan(graph, 1)));
  EXPECT_EQ(Json(head_plan(store)), Json(starter_plan(graph, 1)));
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
  for (const SimulatedLaboratory::Stage& s : lab.stages) {
    EXPECT_EQ(s.count, 6);
    EXPECT_TRUE(s.first == 1 || s.first == 7);
    confirmations += s.first == 7;
  }
  EXPECT_GT(confirmations, 0);
}

// When a stage of a candidate's proof began.
double start_of(const SimulatedLaboratory& lab, const std::string& candidate, bool confirmation) {
  double at = 0;
  for (const SimulatedLaboratory::Stage& s : lab.stages)
    if (s.candidate == candidate && (s.first > 1) == confirmation) at = s.at;
  return at;
}

TEST_F(Loop, NothingIsConfirmedTooEarly) {
  graph = testing::chain_of_matmuls(4, 128);
  lab.screen_seconds = 10;
  options.rules.fallback.rule.confirm_after = 50;
  MemoryStore store;
  tune(store);
  int kept = 0, waited = 0;
  for (const Experiment& e : store.experiments()) {
    if (e.outcome != Outcome::kKept) continue;
    ++kept;
    // Before the wait is over only when nothing else was left to do.
    const double confirmed_at = start_of(lab, e.candidate, true);
    EXPECT_TRUE(e.confirm_delay >= 50 || confirmed_at > lab.last_screen) << e.confirm_delay;
    EXPECT_GE(confirmed_at - start_of(lab, e.candidate, false), e.confirm_delay);
    waited += e.confirm_delay >= 50;
  }
  EXPECT_GT(kept, 1);
  EXPECT_GT(waited, 0);
}

TEST_F(Loop, AWinThatDoesNotConfirmIsRolledBack) {
  lab.loses_later = [](const Step&) { return 0.5; };
  options.experiments = 60;
  MemoryStore store;
  tune(store);
  EXPECT_TRUE(Json(gated_plan(store)) == Json(starter_plan(graph, 1)));
  EXPECT_TRUE(Json(head_plan(store)) == Json(starter_plan(graph, 1)));
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
  lab.loses_later = [&](const Step& s) { return is_last(s) ? 0.0 : 0.5; };
  MemoryStore store;
  tune(store);
  expect_sound(store);
  int failed = 0;
  for (const Experiment& e : store.experiments()) {
    failed += e.stage == "confirm" && e.outcome == Outcome::kReverted;
    EXPECT_NE(e.stage, "gate") << e.reason;
    const auto proofs = std::count_if(lab.stages.begin(), lab.stages.end(), [&](const auto& s) { return s.candidate == e.candidate && s.first == 1; });
    if (e.outcome == Outcome::kKept) {
      EXPECT_EQ(proofs, 1) << "proven again";
    }
  }
  EXPECT_GT(failed, 0);
  const Plan start = starter_plan(graph, 1), plan = gated_plan(store);
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    if (is_last(plan.steps[i])) {
      EXPECT_NEAR(SimulatedLaboratory::seconds_of(plan.steps[i]), 1e-3, 0.02e-3);
    } else {
      EXPECT_EQ(plan.steps[i].variant.id(), start.steps[i].variant.id());
    }
  }
}

// Two products as one step: the simulated machine only looks at knobs.
class FuseTwo final : public testing::TuneBlocks {
  std::string_view name() const override { return "fuse_two"; }
  bool structural() const override { return true; }
  std::optional<Match> match(const RewriteContext& context, int anchor, std::string* refusal) const override {
    const auto next = static_cast<size_t>(anchor) + 1;
    if (anchor > 0 || next >= context.plan.steps.size() || context.plan.steps[0].nodes.size() > 1) return std::nullopt;
    auto match = testing::TuneBlocks::match(context, anchor, refusal);
    if (!match) return std::nullopt;
    const Step& second = context.plan.steps[next];
    match->window.steps = {anchor, static_cast<int>(next)};
    Step& fused = match->replacement[0];
    fused.nodes.insert(fused.nodes.end(), second.nodes.begin(), second.nodes.end());
    fused.inputs.push_back(second.inputs[1]);
    fused.outputs = second.outputs;
    return match;
  }
};

// A form of fewer steps was left unproven: what was offered on the steps before it is not for the draft that it makes.
TEST_F(Loop, AnUnprovenFormOfOtherStepsIsBuiltOn) {
  const FuseTwo fuse;
  offered = &fuse;
  graph = testing::chain_of_matmuls(3);
  for (int stop_after = 1; stop_after < 12; ++stop_after) {
    MemoryStore store;
    tune(store, stop_after);
    tune(store);
    for (const Experiment& e : store.experiments()) {
      std::set<NodeId> nodes;
      for (const Step& s : e.replacement.get<std::vector<Step>>()) nodes.insert(s.nodes.begin(), s.nodes.end());
      EXPECT_EQ(nodes, (std::set<NodeId>{0, 1})) << "experiment " << e.id << " of a run stopped after " << stop_after;
    }
  }
}

// Another kernel for any product, a third faster.
class UseAnotherForm final : public testing::TuneBlocks {
 public:
  static bool in_place(const Step& s) { return !s.variant.flags.empty(); }
  std::string_view name() const override { return "use_another_form"; }
  bool structural() const override { return true; }
  std::optional<Match> match(const RewriteContext& context, int anchor, std::string*) const override {
    const Step& step = context.plan.steps[static_cast<size_t>(anchor)];
    if (in_place(step)) return std::nullopt;
    Match match{{{anchor}}, {step}, {}};
    match.replacement[0].variant.flags = {"-fanother-form"};
    return match;
  }
};

// Nobody has looked at the second product: the blocks of the first one's new form can wait.
TEST_F(Loop, AFormElsewhereThatPromisesMoreComesBeforeTheRestOfACampaign) {
  const UseAnotherForm form;
  graph = testing::chain_of_matmuls(3, 128);
  lab.luck = [](const Step& s) { return UseAnotherForm::in_place(s) ? 0.3 : 0; };
  lab.paired = [](const Step& s, int) { return UseAnotherForm::in_place(s) ? std::optional(0.3) : std::nullopt; };
  options.experiments = 6;
  MemoryStore store;
  std::atomic<bool> stop = false;
  TuneObserver observer;
  Tuner(graph, store, lab, {&form, &rewrite}, options, observer, stop, known).run();
  const std::vector<Experiment> all = store.experiments();
  const auto blocks = std::find_if(all.begin(), all.end(), [](const Experiment& e) { return e.rewrite == "tune_blocks"; });
  ASSERT_NE(blocks, all.end());
  std::set<std::string> windows;
  for (auto e = all.begin(); e != blocks; ++e) windows.insert(e->signature);
  EXPECT_EQ(windows.size(), 2u);
}

// Two of three pairs of the first products agree, by a percent: to prove that takes longer than all of the last product, which nobody has looked at.
class ProofsThatWait : public Loop {
 protected:
  static bool is_last(const Step& s) { return s.outputs[0].value == testing::chain_of_matmuls(3, 128).outputs[0]; }
  // Of the first stage, in order of time.
  std::vector<std::string> proofs() const {
    std::vector<std::string> ids;
    for (const SimulatedLaboratory::Stage& s : lab.stages)
      if (s.first == 1) ids.push_back(s.candidate);
    return ids;
  }
  void SetUp() override {
    graph = testing::chain_of_matmuls(3, 128);
    lab.paired = [&](const Step& s, int first_build) -> std::optional<double> {
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
  EXPECT_EQ(Tuner(graph, store, lab, {offered}, options, observer, observer.stop).run().end, TuneEnd::kStopped);
  const int before = pairs;
  lab.clock = 5;  // another boot
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

class HopelessBlocks final : public testing::TuneBlocks {
  Odds odds() const override { return {0.1, 1e-9}; }
};

// Found by a session of BERT-base: a replacement names values of the graph, not those of its window.
TEST_F(ProofsThatWait, GoOnWhereNothingIsLeftToTry) {
  struct StopWhenOneWaits : TuneObserver {
    std::atomic<bool> stop = false;
    void on_experiment(const Experiment& e) override { stop = stop || (e.stage == "race" && !e.prove_log_ratios.empty()); }
  } observer;
  MemoryStore store;
  EXPECT_EQ(Tuner(graph, store, lab, {offered}, options, observer, observer.stop).run().end, TuneEnd::kStopped);
  const size_t tried = store.experiments().size();
  const HopelessBlocks hopeless;
  offered = &hopeless;
  tune(store, 2);  // raced again, and proven
  EXPECT_EQ(store.experiments().size(), tried) << "nothing new is tried before it";
  for (const Experiment& e : store.experiments())
    if (e.candidate == proofs()[0]) EXPECT_EQ(e.stage, "proven") << e.reason;
}

TEST_F(Loop, KilledBetweenProofAndConfirmationGoesOnWithTheConfirmation) {
  class DiesWhenProven : public MemoryStore {
   public:
    int lives = 1;
    void commit(const Commit& c) override {
      MemoryStore::commit(c);
      for (const Experiment& e : c.experiments)
        if (e.stage == "proven" && lives-- > 0) throw DyingStore::Killed{};
    }
  } store;
  EXPECT_THROW(tune(store), DyingStore::Killed);
  Experiment proven;
  for (const Experiment& e : store.experiments())
    if (e.stage == "proven") proven = e;
  ASSERT_GT(proven.id, 0);
  EXPECT_EQ(proven.gain.pairs, 0);
  EXPECT_TRUE(Json(gated_plan(store)) == Json(starter_plan(graph, 1)));
  const size_t stages = lab.stages.size();
  lab.clock = 5;  // another boot
  EXPECT_EQ(tune(store).end, TuneEnd::kConverged);
  expect_sound(store);
  const Experiment after = store.experiments()[static_cast<size_t>(proven.id - 1)];
  EXPECT_EQ(after.outcome, Outcome::kKept);
  EXPECT_TRUE(after.prove_log_ratios == proven.prove_log_ratios);
  EXPECT_GE(after.confirm_log_ratios.size(), 9u);
  for (size_t i = stages; i < lab.stages.size(); ++i)
    EXPECT_TRUE(lab.stages[i].candidate != proven.candidate || lab.stages[i].first > 1) << "proven twice";
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
  EXPECT_TRUE(Json(gated_plan(store)) == Json(starter_plan(graph, 1)));
  EXPECT_EQ(count(store, Outcome::kKept), 0);
  options.experiments = 80;  // the session goes on
  tune(store);
  expect_sound(store);
}

TEST_F(Loop, ImpossibleTimesAreNeverCountedAndEndAProofInTheEnd) {
  lab.impossible = [](int pair) { return pair == 2; };
  options.experiments = 30;
  MemoryStore one;
  tune(one);
  EXPECT_GT(count(one, Outcome::kKept), 0);
  EXPECT_EQ(count(one, Outcome::kMistrusted), 0);
  lab.impossible = [](int) { return true; };
  MemoryStore all;
  tune(all);
  EXPECT_EQ(count(all, Outcome::kKept), 0);
  ASSERT_GT(count(all, Outcome::kMistrusted), 0);
  for (const Experiment& e : all.experiments())
    EXPECT_TRUE(e.outcome != Outcome::kMistrusted || (e.code == "below-floor" && e.prove_log_ratios.empty()));
}

// The challenger loses every pair; one time below a floor does not spare it that pair.
TEST_F(Loop, AnImpossibleTimeCountsAgainstTheChallenger) {
  const Plan starter = starter_plan(graph, 1);
  Step faster = starter.steps[0];
  faster.variant.knobs["MR"] = 8;
  WindowTask task;
  task.incumbent = {faster};
  for (const bool loses : {true, false}) {
    const std::vector<Step> challenger{loses ? starter.steps[0] : faster};
    task.incumbent = {loses ? faster : starter.steps[0]};
    lab.enter(task);
    lab.stages = {{"", 1, 8, 0}};
    lab.pairs = 0;
    lab.impossible = [](int pair) { return pair == 2; };
    Random random(1);
    const Evidence evidence = gather_evidence(lab, DecisionRule{}, challenger, {}, 1, random, [](const auto&) { return false; });
    EXPECT_EQ(evidence.dropped.size(), loses ? 0u : 1u);
    EXPECT_EQ(evidence.end, loses ? Evidence::End::kFailed : Evidence::End::kPassed);
  }
}

// The sides of what is dropped balance: a challenger whose lost pairs are all called disturbed loses them all the same.
TEST_F(Loop, DroppedLossesCountWhereNoWinsAreDroppedBesideThem) {
  const Plan starter = starter_plan(graph, 1);
  WindowTask task;
  task.incumbent = {starter.steps[0]};
  lab.enter(task);
  for (const bool balanced : {false, true}) {
    int pair = 0;
    lab.paired = [&](const Step&, int) { return std::optional(pair++ % 8 < 3 ? -1.0 : 0.1); };
    lab.disturbed = [&](double log_ratio) { return log_ratio < 0 || (balanced && pair % 2 == 0); };
    Random random(1);
    lab.stages = {{"", 1, 8, 0}};
    const Evidence evidence = gather_evidence(lab, DecisionRule{}, {starter.steps[0]}, {}, 1, random, [](const auto&) { return false; });
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
  const Plan starter = starter_plan(graph, 1);
  WindowTask task;
  task.incumbent = {starter.steps[0]};
  lab.enter(task);
  int pair = 0;
  lab.paired = [&](const Step&, int) { return std::optional(++pair % 9 == 0 ? -0.02 : 0.06); };
  lab.disturbed = [&](double) { return pair % 3 == 0; };
  lab.stages = {{"", 1, 8, 0}};
  Random random(1);
  EXPECT_EQ(gather_evidence(lab, DecisionRule{}, {starter.steps[0]}, {}, 1, random, [](const auto&) { return false; }).end, Evidence::End::kPassed);
}

TEST_F(Loop, WhatIsNotWorthAProofGetsNone) {
  options.rules.fallback.hopeful_gain = 0.9;
  MemoryStore store;
  tune(store);
  EXPECT_TRUE(lab.stages.empty());
  int said = 0;
  for (const Experiment& e : store.experiments()) said += e.reason.find("not worth a proof") != std::string::npos;
  EXPECT_GT(said, 0);
}

TEST_F(Loop, AWindowThatCannotBeJudgedIsLeftAloneWithANote) {
  lab.unusable = "its expected outputs are nearly all zero";
  MemoryStore store;
  EXPECT_EQ(tune(store).end, TuneEnd::kConverged);
  EXPECT_TRUE(store.experiments().empty());
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("nearly all zero"), std::string::npos);
}

TEST_F(Loop, TheDefaultPlanIsMeasuredFirst) {
  options.experiments = 1;
  MemoryStore store;
  tune(store);
  ASSERT_FALSE(store.profiles().empty());
  EXPECT_EQ(store.profiles()[0].plan, 1);
  EXPECT_EQ(Json(store.plans()[0].plan.get<Plan>()), Json(starter_plan(graph, 1)));
  EXPECT_EQ(store.experiments().size(), 1u);
}

TEST_F(Loop, TheSameSeedTakesTheSameDecisions) {
  MemoryStore a, b, c;
  options.experiments = 30;
  tune(a);
  tune(b);
  EXPECT_EQ(candidates(a), candidates(b));
  options.seed = 2;
  tune(c);
  EXPECT_NE(candidates(a), candidates(c));
}

// Who knows the seed that a user gave knows what is tried, and nothing of what it is tried on.
TEST_F(Loop, TheSameSeedOfAnotherSessionIsJudgedOnOtherNumbers) {
  MemoryStore a, b;
  options.experiments = 1;
  options.entropy = 1;
  tune(a);
  options.entropy = 2;
  tune(b);
  EXPECT_EQ(candidates(a), candidates(b));
  EXPECT_NE(a.experiments()[0].seed, b.experiments()[0].seed);
  EXPECT_EQ(a.options().at("entropy"), 1) << "recorded: a replay needs it";
}

TEST_F(Loop, StoppedAndResumedRepeatsNothing) {
  MemoryStore store;
  int runs = 0;
  TuneEnd end = TuneEnd::kStopped;
  for (; end == TuneEnd::kStopped && runs < 200; ++runs) {
    const size_t before = store.experiments().size();
    end = tune(store, 3).end;
    EXPECT_GE(store.experiments().size(), before);
  }
  EXPECT_GT(runs, 3);
  EXPECT_EQ(end, TuneEnd::kConverged);
  expect_sound(store);
  for (const Step& step : gated_plan(store).steps) EXPECT_NEAR(SimulatedLaboratory::seconds_of(step), 1e-3, 0.02e-3);
}

TEST_F(Loop, KilledAtAnyCommitLosesAtMostTheRunningExperiment) {
  for (const bool after : {false, true}) {
    DyingStore store;
    store.after = after;
    // Every other form loses its confirmation, and must not come through in any life.
    const auto is_bad = [](const Step& s) { return s.variant.knobs.at("MR") == 6; };
    lab.loses_later = [&](const Step& s) { return is_bad(s) ? 0.5 : 0; };
    std::map<int64_t, std::string> finished;  // must never change
    Random random(11);
    bool done = false;
    for (int kills = 0; kills < 300 && !done; ++kills) {
      store.lives = 1 + static_cast<int>(random.below(8));
      try {
        done = tune(store).end == TuneEnd::kConverged;
      } catch (const DyingStore::Killed&) {
      }
      for (const auto& [id, candidate] : finished) EXPECT_EQ(store.experiments()[static_cast<size_t>(id - 1)].candidate, candidate);
      for (const Experiment& e : store.experiments()) finished[e.id] = e.candidate;
    }
    EXPECT_TRUE(done);
    expect_sound(store);
    for (const Step& step : gated_plan(store).steps) {
      EXPECT_FALSE(is_bad(step));
      EXPECT_NEAR(SimulatedLaboratory::seconds_of(step), 1e-3, 0.02e-3);
    }
  }
}

TEST(Options, SurviveJson) {
  TuneOptions o;
  o.seconds = 60;
  o.seed = ~uint64_t{0};
  o.entropy = ~uint64_t{1};
  o.rules.fallback.rule.delta = 0.005;
  o.rules.fallback.rule.builds = 4;
  o.rules.fallback.rule.confirm_after = 60;
  o.rules.fallback.hopeful_gain = 0.02;
  EXPECT_EQ(Json(Json::parse(Json(o).dump()).get<TuneOptions>()), Json(o));
}

}  // namespace
}  // namespace amdahl
