#include "tuner/measurement/cpu_time.h"

#include <gtest/gtest.h>

namespace amdahl {
namespace {

// Runs of a millisecond that are stopped `beside` seconds later.
std::optional<std::string> after(int runs, int threads, double beside, double cpu_seconds) {
  CpuTime time(threads);
  for (int i = 0; i < runs; ++i) time.add({1e-3, beside, cpu_seconds});
  return time.excess();
}

TEST(CpuTime, ThreadsThatWorkAndThenSpinUntilTheyAreStoppedAreHonest) {
  EXPECT_EQ(after(40, 1, 50e-6, 1.05e-3), std::nullopt);
  EXPECT_EQ(after(40, 2, 200e-6, 2.4e-3), std::nullopt);
}

TEST(CpuTime, OneThreadMoreIsNot) {
  EXPECT_EQ(after(40, 1, 50e-6, 2.1e-3), "used 84.0 ms of CPU time in 40.0 ms with 1 thread");
  EXPECT_EQ(after(40, 2, 50e-6, 3.15e-3), "used 126.0 ms of CPU time in 40.0 ms with 2 threads");
}

TEST(CpuTime, AWorkerThatWasStoppedLateSaysNothing) { EXPECT_EQ(after(40, 2, 2e-3, 6e-3), std::nullopt); }

TEST(CpuTime, LateRunsDoNotHideTheOthers) {
  CpuTime time(1);
  for (int i = 0; i < 40; ++i) time.add({1e-3, i % 2 ? 50e-6 : 5e-3, i % 2 ? 2.1e-3 : 6e-3});
  EXPECT_EQ(time.excess(), "used 42.0 ms of CPU time in 20.0 ms with 1 thread");
}

TEST(CpuTime, OneTickOfACoarseClockIsNoExcess) { EXPECT_EQ(after(1, 1, 50e-6, 1e-2), std::nullopt); }

}  // namespace
}  // namespace amdahl
