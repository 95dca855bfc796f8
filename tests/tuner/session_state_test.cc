// What is stored of a session: one commit a step, told to the observer when it is kept, and found again by the next run.

#include "tuner/search/session_state.h"

#include <gtest/gtest.h>

#include "tests/tuner/simulated_trials.h"

namespace amdahl {
namespace {

class CountingStore : public MemoryStore {
 public:
  void commit(const Commit& c) override {
    MemoryStore::commit(c);
    ++commits;
  }
  int commits = 0;
};

// Looks into the store when it is told something.
class Watcher : public TuneObserver {
 public:
  explicit Watcher(const SessionStore& store) : store_(store) {}
  void on_experiment(const Experiment& e) override {
    const std::vector<Experiment> all = store_.experiments();
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Experiment& kept) { return Json(kept) == Json(e); })) << "told before it is kept";
    ++told;
  }
  int told = 0;

 private:
  const SessionStore& store_;
};

class StoredSession : public ::testing::Test {
 protected:
  void SetUp() override {
    state.start_clock(0);
    state.begin();
  }
  // Step `s` of the head with other blocks, as a proven win.
  void adopt(size_t s) {
    Plan next = state.head();
    next.steps[s].variant.knobs["MR"] = 8;
    Experiment e;
    e.id = state.next_experiment();
    e.stage = "proven";
    e.replacement = std::vector<Step>{next.steps[s]};
    PendingWin win;
    win.predicted = 0.1;
    state.adopt(e, win, next);
  }
  LedgerEntry gate(size_t count, double measured) const {
    LedgerEntry entry;
    entry.id = state.next_ledger_entry();
    entry.plan_before = state.gated_id();
    entry.plan_after = state.pending().at(count - 1).plan;
    entry.measured.log = measured;
    return entry;
  }
  bool is_tuned(const Plan& plan, size_t s) const { return plan.steps[s].variant.id() != state.starter().steps[s].variant.id(); }

  const Graph graph = testing::chain_of_matmuls(2, 128);
  testing::SimulatedTrials runner;
  CountingStore store;
  Watcher watcher{store};
  const std::atomic<bool> never = false;
  const TuneContext context{graph, store, runner, {}, {}, watcher, never};
  SessionState state{context};
};

TEST_F(StoredSession, BeginsWithTheStarterPlanAsHeadAndKept) {
  EXPECT_EQ(Json(state.head()), Json(state.starter()));
  EXPECT_EQ(state.head_id(), state.gated_id());
  EXPECT_FALSE(state.has_kept());
  EXPECT_FALSE(SessionState(context).is_new());
}

TEST_F(StoredSession, EachStepIsOneCommitAndToldOnce) {
  const int before = store.commits;
  adopt(0);
  EXPECT_EQ(store.commits, before + 1);
  state.confirm(0, state.experiment(1), 0.2);
  EXPECT_EQ(store.commits, before + 2);
  state.take_back(0, state.experiment(1));
  EXPECT_EQ(store.commits, before + 3);
  EXPECT_EQ(watcher.told, 3);
}

TEST_F(StoredSession, AWinBesideOneThatIsTakenBackMovesToThePlanWithoutIt) {
  adopt(0);
  adopt(1);
  ASSERT_TRUE(is_tuned(state.head(), 0) && is_tuned(state.head(), 1));
  state.take_back(0, state.experiment(1));
  EXPECT_FALSE(is_tuned(state.head(), 0));
  EXPECT_TRUE(is_tuned(state.head(), 1));
  ASSERT_EQ(state.pending().size(), 1u);
  EXPECT_EQ(state.pending()[0].experiment, 2);
  EXPECT_EQ(state.pending()[0].plan, state.head_id());
  EXPECT_EQ(state.take_backs(), 1);
  const std::vector<PlanRecord> plans = store.plans();
  ASSERT_EQ(plans.size(), 4u);
  EXPECT_TRUE(plans[1].rolled_back && plans[2].rolled_back && !plans[3].rolled_back);
  EXPECT_EQ(plans[3].parent, 1);
}

TEST_F(StoredSession, WhatWasBuiltOnAWinGoesWithIt) {
  adopt(0);
  Plan next = state.head();
  next.steps[0].variant.knobs["KC"] = 128;
  Experiment e;
  e.id = 2;
  e.stage = "proven";
  state.adopt(e, {}, next);
  state.take_back(0, state.experiment(1));
  EXPECT_TRUE(state.pending().empty());
  EXPECT_EQ(Json(state.head()), Json(state.starter()));
  EXPECT_EQ(state.experiment(2).stage, "gate") << "it may come again";
  EXPECT_EQ(state.experiment(2).reason, "rolled back with experiment 1");
}

TEST_F(StoredSession, AGateKeepsTheFirstWinsAndLeavesTheRestPending) {
  adopt(0);
  adopt(1);
  state.confirm(0, state.experiment(1), 0.15);
  EXPECT_EQ(state.confirmed(), 1u);
  state.pass_gate(gate(1, 0.12), 1);
  EXPECT_TRUE(state.has_kept());
  EXPECT_EQ(state.proven_log(), 0.12);
  ASSERT_EQ(state.pending().size(), 1u);
  EXPECT_TRUE(is_tuned(state.plan(state.gated_id()), 0));
  EXPECT_FALSE(is_tuned(state.plan(state.gated_id()), 1));
  EXPECT_TRUE(is_tuned(state.head(), 1));
  EXPECT_TRUE(store.plans()[1].gated);
}

TEST_F(StoredSession, AGateThatFailsForSeveralChangesNoPlan) {
  adopt(0);
  adopt(1);
  const Json head = state.head();
  state.fail_gate(gate(2, -0.1));
  EXPECT_EQ(Json(state.head()), head);
  EXPECT_EQ(state.pending().size(), 2u);
  EXPECT_FALSE(state.has_kept());
  EXPECT_EQ(state.next_ledger_entry(), 2);
}

TEST_F(StoredSession, AnotherRunFindsAllOfIt) {
  adopt(0);
  adopt(1);
  state.confirm(0, state.experiment(1), 0.15);
  state.pass_gate(gate(1, 0.12), 1);
  state.spend("judge", 3);
  state.note_gate(20, 1.5);
  runner.clock += 50;
  state.commit_seconds();
  const double spent = state.spent();

  runner.clock = 5;  // another boot
  SessionState again(context);
  again.start_clock(0);
  again.load();
  EXPECT_EQ(Json(again.head()), Json(state.head()));
  EXPECT_EQ(Json(again.starter()), Json(state.starter()));
  EXPECT_EQ(again.gated_id(), state.gated_id());
  EXPECT_EQ(Json(again.pending()), Json(state.pending()));
  EXPECT_EQ(again.next_experiment(), 3);
  EXPECT_EQ(again.spent(), spent);
  EXPECT_EQ(again.costs().gate, 20);
  EXPECT_EQ(again.costs().model_pair, 1.5);
  EXPECT_TRUE(again.costs().measured);
  again.guess_model_pair(100);
  EXPECT_EQ(again.costs().model_pair, 1.5) << "what was measured counts more than a guess";
  EXPECT_EQ(store.state().at("phases").at("judge").get<double>(), 3);
}

}  // namespace
}  // namespace amdahl
