// The loop on a simulated machine: what it tries, in which order, and how it resumes. What becomes of a win is in loop_wins_test.cc.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "starter_kernels/cpu/cpu_target.h"
#include "tests/tuner/loop_fixture.h"

namespace amdahl {
namespace {

using testing::Loop;
using testing::SimulatedTrials;

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

TEST_F(Loop, FindsTheOptimumAndAppliesItEverywhere) {
  MemoryStore store;
  const TuneSummary s = tune(store);
  EXPECT_EQ(s.end, TuneEnd::kConverged);
  expect_sound(store);
  const Plan plan = gated_plan(store);
  for (const Step& step : plan.steps) EXPECT_NEAR(SimulatedTrials::seconds_of(step), 1e-3, 0.02e-3);
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
  runner.luck = [&](const Step& step) { return step.variant.knobs.at("KC") == 192 && std::exchange(luck_left, false) ? 0.5 : 0; };
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
  std::optional<Match> offer(const RewriteContext& context, int anchor, std::string* refusal) const override {
    std::optional<Match> match = TuneBlocks::offer(context, anchor, refusal);
    if (match) declare_algorithm(match->replacement[0].variant.problem, "bf16_strassen");
    return match;
  }
};

TEST_F(Loop, OffersWhatCostsAccuracyOnlyWhereTheModelCanHaveItEverywhere) {
  const RoundsMore rounds_more;
  offered = &rounds_more;
  options.allow_bf16 = true;
  options.max_error = 0.02;
  MemoryStore too_much, within;
  runner.model_error = 0.021;
  tune(too_much);
  EXPECT_EQ(too_much.experiments().size(), 0u);
  runner = {};
  runner.model_error = 0.019;
  tune(within);
  EXPECT_GT(count(within, Outcome::kKept), 0);

  // Nor is it taken from an earlier session that could have it.
  WisdomPlace allowing;
  allowing.allowed = "bf16";
  known = known_at(proven_forms(graph, within, allowing, "chain", 1), allowing);
  ASSERT_EQ(known.size(), 1u);
  MemoryStore another;
  runner = {};
  runner.model_error = 0.021;
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
  runner = {};
  options.experiments = 1;
  tune(second);
  ASSERT_EQ(second.experiments().size(), 1u);
  EXPECT_EQ(second.experiments()[0].outcome, Outcome::kKept);
  EXPECT_EQ(second.experiments()[0].occurrences, 7);
  EXPECT_FALSE(runner.stages.empty()) << "kept without a proof of its own";
  for (const Step& step : gated_plan(second).steps) EXPECT_NEAR(SimulatedTrials::seconds_of(step), 1e-3, 0.02e-3);
}

// The mark goes with the form, and with a text in it, into the session and on into its own wisdom.
TEST_F(Loop, WhatComesFromOutsideSaysSo) {
  MemoryStore first, second, third;
  tune(first);
  known = learnt_from(graph, first);
  ASSERT_EQ(known.size(), 1u);
  EXPECT_EQ(known.begin()->second.origin, "");
  known.begin()->second.origin = "friend.db, 2026-11-27";
  runner = {};
  tune(second);
  ASSERT_FALSE(second.experiments().empty());
  EXPECT_EQ(second.experiments()[0].origin, "friend.db, 2026-11-27");
  EXPECT_NE(second.experiments()[0].object_code, "");
  for (const Experiment& e : second.experiments())
    if (e.id > 1) EXPECT_EQ(e.origin, "") << "its own search";
  EXPECT_EQ(learnt_from(graph, second).begin()->second.origin, "") << "a text of this program, proven here";

  for (Step& step : known.begin()->second.steps) step.variant.source_override = "a friend's text";
  runner = {};
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
  runner = {};
  runner.verdict = [&](const Knobs& k) -> std::optional<Failure> {
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
  runner.model_ignores_wins = true;
  options.experiments = 40;
  MemoryStore store;
  tune(store);
  EXPECT_TRUE(learnt_from(graph, store).empty());
}

TEST_F(Loop, FailuresAreRecordedAndTheRunGoesOn) {
  runner.fails_to_build = [](const Knobs& k) { return k.at("MR") == 1; };
  runner.verdict = [](const Knobs& k) -> std::optional<Failure> {
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

// Two products as one step: the simulated machine only looks at knobs.
class FuseTwo final : public testing::TuneBlocks {
  std::string_view name() const override { return "fuse_two"; }
  bool structural() const override { return true; }
  std::optional<Match> offer(const RewriteContext& context, int anchor, std::string* refusal) const override {
    const auto next = static_cast<size_t>(anchor) + 1;
    if (anchor > 0 || next >= context.plan.steps.size() || context.plan.steps[0].nodes.size() > 1) return std::nullopt;
    auto match = testing::TuneBlocks::offer(context, anchor, refusal);
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
  std::optional<Match> offer(const RewriteContext& context, int anchor, std::string*) const override {
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
  runner.luck = [](const Step& s) { return UseAnotherForm::in_place(s) ? 0.3 : 0; };
  runner.paired = [](const Step& s, int) { return UseAnotherForm::in_place(s) ? std::optional(0.3) : std::nullopt; };
  options.experiments = 6;
  MemoryStore store;
  std::atomic<bool> stop = false;
  TuneObserver observer;
  Tuner({graph, store, runner, {&form, &rewrite}, options, observer, stop}).run();
  const std::vector<Experiment> all = store.experiments();
  const auto blocks = std::find_if(all.begin(), all.end(), [](const Experiment& e) { return e.rewrite == "tune_blocks"; });
  ASSERT_NE(blocks, all.end());
  std::set<std::string> windows;
  for (auto e = all.begin(); e != blocks; ++e) windows.insert(e->signature);
  EXPECT_EQ(windows.size(), 2u);
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
  EXPECT_TRUE(Json(gated_plan(store)) == Json(starter_plan(graph, 1, testing::simulated_target())));
  const size_t stages = runner.stages.size();
  runner.clock = 5;  // another boot
  EXPECT_EQ(tune(store).end, TuneEnd::kConverged);
  expect_sound(store);
  const Experiment after = store.experiments()[static_cast<size_t>(proven.id - 1)];
  EXPECT_EQ(after.outcome, Outcome::kKept);
  EXPECT_TRUE(after.prove_log_ratios == proven.prove_log_ratios);
  EXPECT_GE(after.confirm_log_ratios.size(), 9u);
  for (size_t i = stages; i < runner.stages.size(); ++i)
    EXPECT_TRUE(runner.stages[i].candidate != proven.candidate || runner.stages[i].first > 1) << "proven twice";
}

TEST_F(Loop, WhatIsNotWorthAProofGetsNone) {
  options.rules.fallback.hopeful_gain = 0.9;
  MemoryStore store;
  tune(store);
  EXPECT_TRUE(runner.stages.empty());
  int said = 0;
  for (const Experiment& e : store.experiments()) said += e.reason.find("not worth a proof") != std::string::npos;
  EXPECT_GT(said, 0);
}

TEST_F(Loop, AWindowThatCannotBeJudgedIsLeftAloneWithANote) {
  runner.unusable = "its expected outputs are nearly all zero";
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
  EXPECT_EQ(Json(store.plans()[0].plan.get<Plan>()), Json(starter_plan(graph, 1, testing::simulated_target())));
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
  for (const Step& step : gated_plan(store).steps) EXPECT_NEAR(SimulatedTrials::seconds_of(step), 1e-3, 0.02e-3);
}

TEST_F(Loop, KilledAtAnyCommitLosesAtMostTheRunningExperiment) {
  for (const bool after : {false, true}) {
    DyingStore store;
    store.after = after;
    // Every other form loses its confirmation, and must not come through in any life.
    const auto is_bad = [](const Step& s) { return s.variant.knobs.at("MR") == 6; };
    runner.loses_later = [&](const Step& s) { return is_bad(s) ? 0.5 : 0; };
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
      EXPECT_NEAR(SimulatedTrials::seconds_of(step), 1e-3, 0.02e-3);
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
