#include "profiler/core_distance.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/machine.h"

namespace amdahl {
namespace {

TEST(CoreDistance, IsThatOfALineAndEndsInTime) {
  const auto start = std::chrono::steady_clock::now();
  const double seconds = core_distance_seconds();
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 5) << "50 ms at most, on a machine that runs us";
  if (this_machine().units < 2) {
    EXPECT_EQ(seconds, 0);
    return;
  }
  if (seconds == 0) GTEST_SKIP() << "the two threads did not run at once";
  EXPECT_GT(seconds, 1e-9) << "no line is that fast";
  EXPECT_LT(seconds, 50e-3 / 5000 * 2) << "5000 turns within 50 ms";
}

}  // namespace
}  // namespace amdahl
