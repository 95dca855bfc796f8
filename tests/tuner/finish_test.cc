// The end of a session, without the command line: what a library or a bench gets.

#include "tuner/search/finish.h"

#include "starter_kernels/cpu/cpu_target.h"
#include "tests/tuner/loop_fixture.h"
#include "tuner/search/headline.h"

namespace amdahl {
namespace {

class Finish : public testing::Loop {
 protected:
  void finish(const TuneSummary& run) {
    TuneObserver nobody;
    const std::atomic<bool> never = false;
    finish_session(context(store, nobody, never), run);
  }
  MemoryStore store;
};

TEST_F(Finish, MeasuresAHeadlineAndCountsItsSeconds) {
  const TuneSummary run = tune(store);
  ASSERT_TRUE(any_kept(store));
  EXPECT_FALSE(store.headline());
  const double before = store.state().at("seconds").get<double>(), clock = runner.clock;
  finish(run);
  ASSERT_TRUE(store.headline());
  EXPECT_EQ(store.headline()->gain.pairs, kHeadlinePairs) << "nothing is left to search: no more pairs than it takes";
  EXPECT_GT(store.headline()->gain.lo, 0);
  EXPECT_NEAR(store.state().at("seconds").get<double>() - before, runner.clock - clock, 1e-9);
  EXPECT_GT(store.state().at("phases").at("headline").get<double>(), 0);
}

TEST_F(Finish, SpendsWhatIsLeftWhereTimeWasUp) {
  options.seconds = 400;
  runner.screen_seconds = 5;
  TuneSummary run = tune(store);
  ASSERT_TRUE(any_kept(store));
  run.end = TuneEnd::kTimeUp;
  const double left = options.seconds - run.status.seconds_spent;
  const double clock = runner.clock;
  finish(run);
  ASSERT_TRUE(store.headline());
  EXPECT_GT(store.headline()->gain.pairs, kHeadlinePairs);
  EXPECT_LE(runner.clock - clock, left);
}

TEST_F(Finish, TakesBackWhatIsSlowerThanTheStarter) {
  const TuneSummary run = tune(store);
  ASSERT_TRUE(any_kept(store));
  runner.model_loses = 1;
  finish(run);
  EXPECT_FALSE(any_kept(store));
  EXPECT_FALSE(store.headline()) << "nothing is left that a headline could be of";
  EXPECT_TRUE(Json(gated_plan(store)) == Json(starter_plan(graph, 1, testing::simulated_target())));
}

TEST_F(Finish, IsByTheMeanWhereSingleRunsTakeFarLonger) {
  const TuneSummary run = tune(store);
  ASSERT_TRUE(any_kept(store));
  runner.works = 3;
  finish(run);
  EXPECT_FALSE(any_kept(store)) << "three times slower in the mean";
}

TEST_F(Finish, MeasuresNothingWhereNothingIsKept) {
  runner.model_ignores_wins = true;
  const TuneSummary run = tune(store);
  ASSERT_FALSE(any_kept(store));
  const int64_t pairs = runner.model_pairs;
  finish(run);
  EXPECT_EQ(runner.model_pairs, pairs);
  EXPECT_FALSE(store.headline());
}

}  // namespace
}  // namespace amdahl
