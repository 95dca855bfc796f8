// What the scheduler leaves to its policy, and what it does not.

#include <gtest/gtest.h>

#include "graph/models/buckets.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "tests/tuner/simulated_trials.h"
#include "tuner/search/scheduler.h"

namespace amdahl {
namespace {

// Prefers the last offer; remembers what it was shown.
class LastFirst : public SearchPolicy {
 public:
  double priority(const Offer& offer) const override {
    shown.push_back(offer);
    return static_cast<double>(offer.number) - 1e6;  // negative priorities are as good as others
  }
  mutable std::vector<Offer> shown;
};

class BringKernels : public testing::TuneBlocks {
 public:
  std::string_view name() const override { return "bring_kernels"; }
  bool brings_kernels() const override { return true; }
};

constexpr double kModelSeconds = 0.01;

class Policies : public ::testing::Test {
 protected:
  // One offer for each of these shares of the model.
  std::vector<Opportunity> offers(const std::vector<double>& shares, double model_seconds = kModelSeconds) const {
    std::vector<Opportunity> all;
    for (double share : shares) {
      Opportunity o;
      o.rewrite = &rewrite;
      o.signature = "window " + std::to_string(all.size());
      o.windows = {{{0}}};
      o.seconds = o.winnable_seconds = share * model_seconds;
      all.push_back(o);
    }
    return all;
  }
  Experiment lost(const std::string& signature) const {
    Experiment e;
    e.rewrite = rewrite.name();
    e.signature = signature;
    e.outcome = Outcome::kReverted;
    e.stage = "race";
    return e;
  }

  testing::TuneBlocks rewrite;
  Random random{3};
};

TEST_F(Policies, TheLoopsOwnTakesTheMostGainASecond) {
  const Scheduler scheduler;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(scheduler.choose(offers({0.01, 0.6, 0.02}), kModelSeconds, random)->opportunity, 1u);
}

// A share in twelve places of a few milliseconds is tried before eight times as much that takes half a second to run once.
TEST_F(Policies, WhatTakesLongToProveWaits) {
  const Scheduler scheduler;
  for (const double model_seconds : {1.0, kModelSeconds}) {
    auto all = offers({0.4, 0.05}, model_seconds);
    all[1].windows.assign(12, {{1}});
    EXPECT_EQ(scheduler.choose(all, model_seconds, random)->opportunity, model_seconds == 1.0 ? 1u : 0u);
  }
}

TEST_F(Policies, TheSameShareOfAnyShapeCountsAlike) {
  LoadOptions short_one, long_one;
  short_one.seq = 8;
  long_one.seq = 16;
  const Graph graph = load_buckets("builtin:gpt2-mini", {{"8", short_one}, {"16", long_one}});
  Plan plan = starter_plan(graph, 1, cpu_target());
  Profile profile;
  for (Step& s : plan.steps) {
    if (s.variant.knobs.contains("PACK_B")) s.variant.knobs["PACK_B"] = 0;  // what a rewrite then changes
    profile.steps.emplace_back();
    profile.steps.back().seconds = bucket_of(graph.buckets, s.outputs[0].value) == 0 ? 1e-4 : 3e-4;
  }
  int seen = 0;
  for (const Opportunity& o : find_opportunities(graph, plan, profile, {find_rewrite("pack_constant_weights")}, cpu_target())) {
    const bool is_short = bucket_of(graph.buckets, plan.steps[static_cast<size_t>(o.windows[0].steps[0])].outputs[0].value) == 0;
    EXPECT_NEAR(o.weight, is_short ? 2 : 2.0 / 3, 1e-6) << o.describe(plan);
    seen |= is_short ? 1 : 2;
  }
  EXPECT_EQ(seen, 3);
}

TEST_F(Policies, AnotherOneDecidesAmongWhatIsWorthATry) {
  const LastFirst policy;
  Scheduler scheduler(policy);
  scheduler.exclude("tune_blocks", "window 3");
  const auto choice = scheduler.choose(offers({0.6, 0.3, 0.1, 0.1, 1e-5}), kModelSeconds, random);  // one is excluded, one promises nothing
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->opportunity, 2u);
  EXPECT_EQ(policy.shown.size(), 3u);
}

TEST_F(Policies, AreToldWhatWasTriedInVain) {
  const LastFirst policy;
  Scheduler scheduler(policy);
  for (int i = 0; i < 3; ++i) scheduler.observe(lost("window 1"));
  ASSERT_TRUE(scheduler.choose(offers({0.5, 0.5}), kModelSeconds, random));
  ASSERT_EQ(policy.shown.size(), 2u);
  EXPECT_EQ(policy.shown[0].tries, 0);
  EXPECT_EQ(policy.shown[1].tries, 3);
  EXPECT_LT(policy.shown[1].chance, policy.shown[0].chance);
  EXPECT_NE(policy.shown[0].luck, policy.shown[1].luck);
}

TEST_F(Policies, StepsThatOtherKernelsMayTakeOverWait) {
  const BringKernels bring;
  Scheduler scheduler;
  auto all = offers({0.6, 0.02, 0.01});
  all[1].rewrite = &bring;
  all[1].windows = {{{5}}, {{0, 1}}};
  all[2].windows = {{{7}}};
  EXPECT_EQ(scheduler.choose(all, kModelSeconds, random)->opportunity, 1u);
  Experiment e = lost("window 1");
  e.rewrite = bring.name();
  scheduler.observe(e);
  EXPECT_EQ(scheduler.choose(all, kModelSeconds, random)->opportunity, 0u);
}

}  // namespace
}  // namespace amdahl
