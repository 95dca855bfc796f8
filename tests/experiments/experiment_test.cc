#include "experiments/experiment.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "experiments/session_store.h"

namespace amdahl {
namespace {

TEST(Experiment, SurvivesJson) {
  Experiment e;
  e.id = 7;
  e.rewrite = "fuse_bias_gelu";
  e.steps = {3, 4};
  e.knobs = {{"MR", 6}};
  e.outcome = Outcome::kMistrusted;
  e.seed = ~uint64_t{0};
  e.confirm_log_ratios = {0.1, -0.25};
  e.gain = {0.1, 0.05, 0.2, 9};
  e.seconds.race = 0.125;
  e.origin = "friend.db, 2026-11-27";
  e.object_code = "a hash";
  const Experiment back = Json::parse(Json(e).dump()).get<Experiment>();
  EXPECT_EQ(Json(back), Json(e));
  EXPECT_EQ(back.outcome, Outcome::kMistrusted);
  EXPECT_EQ(back.seed, ~uint64_t{0});
  EXPECT_EQ(back.origin, "friend.db, 2026-11-27");
  EXPECT_EQ(back.object_code, "a hash");
}

TEST(Experiment, OfAnOlderSessionIsItsOwn) {
  Json older = Experiment{};
  older.erase("origin");
  older.erase("object_code");
  EXPECT_EQ(older.get<Experiment>().origin, "");
}

TEST(Outcome, UnknownNameIsADamagedSession) {
  EXPECT_EQ(outcome_from_name("timed-out"), Outcome::kTimedOut);
  EXPECT_THROW(outcome_from_name("splendid"), Error);
}

TEST(MemoryStore, LaterCommitReplacesTheRowOfTheSameId) {
  MemoryStore store;
  Commit first;
  Experiment e;
  e.id = 1;
  e.stage = "race";
  first.experiments = {e};
  first.state = Json{{"head", 1}};
  store.commit(first);
  Commit second;
  e.stage = "confirm";
  second.experiments = {e};
  e.id = 2;
  second.experiments.push_back(e);
  store.commit(second);
  ASSERT_EQ(store.experiments().size(), 2u);
  EXPECT_EQ(store.experiments()[0].stage, "confirm");
  EXPECT_EQ(store.state().at("head"), 1);
}

}  // namespace
}  // namespace amdahl
