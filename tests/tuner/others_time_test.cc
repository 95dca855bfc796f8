#include "tuner/measurement/others_time.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

namespace amdahl {
namespace {

TEST(OthersTime, OwnWorkIsNoDisturbance) {
  EXPECT_EQ(disturbance_of(/*busy_ticks=*/80, /*stolen_ticks=*/0, /*own_seconds=*/0.78, /*wall_seconds=*/0.5, /*processors=*/2), "");
}

TEST(OthersTime, AnotherProgramOnOneProcessorIs) { EXPECT_EQ(disturbance_of(98, 0, 0.5, 0.5, 2), "other programs took 480 ms of 1000"); }

TEST(OthersTime, TicksThatCameByChanceAreNot) { EXPECT_EQ(disturbance_of(60, 0, 0.5, 0.5, 2), ""); }

TEST(OthersTime, TheHostIs) {
  EXPECT_EQ(disturbance_of(50, 4, 0.5, 0.5, 2), "the host took 40 ms of 1000");
  EXPECT_EQ(disturbance_of(50, 1, 0.5, 0.5, 2), "") << "one tick may be chance";
}

// What a worker burns, it burns on its own account, however many threads and switches that takes.
TEST(OthersTime, AWorkerCannotCauseOne) {
  const pid_t worker = fork();
  if (worker == 0) {
    for (volatile long i = 0;; i = i + 1) {
    }
  }
  const OthersTime mine({worker}), not_mine({});
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(400);
  while (std::chrono::steady_clock::now() < until) usleep(1000);
  // A busy machine may disturb both; but whatever it adds, the worker's own time is part of the second only.
  const std::string with = mine.disturbance(), without = not_mine.disturbance();
  kill(worker, SIGKILL);
  waitpid(worker, nullptr, 0);
  EXPECT_TRUE(with.empty() || with != without) << with;
}

}  // namespace
}  // namespace amdahl
