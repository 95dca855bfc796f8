#include "profiler/processor_load.h"

#include <gtest/gtest.h>

namespace amdahl {
namespace {

// user nice system idle iowait irq softirq steal guest guest_nice
const char* const kBefore = "cpu  300 0 0 900 0 0 0 0 0 0\ncpu0 100 0 0 300 0 0 0 0 0 0\ncpu1 100 0 0 300 0 0 0 0 0 0\ncpu2 100 0 0 300 0 0 0 0 0 0\nintr 5\n";
const char* const kAfter =
    "cpu  400 0 0 950 0 0 0 50 0 0\ncpu0 120 10 10 350 10 0 0 0 0 0\ncpu1 150 0 0 300 0 0 0 50 0 0\ncpu2 100 0 0 400 0 0 0 0 0 0\nintr 9\n";

bool all(int) { return true; }
bool first_two(int cpu) { return cpu < 2; }

TEST(ProcessorLoad, CountsTheProcessorsThatMayBeUsed) {
  EXPECT_EQ(processor_ticks(kBefore, all).all, 1200);
  EXPECT_EQ(processor_ticks(kBefore, first_two).all, 800);
  EXPECT_EQ(processor_ticks(kBefore, first_two).idle, 600);
  EXPECT_EQ(processor_ticks(kAfter, first_two).idle, 660) << "waiting for a disk is idle";
  EXPECT_EQ(processor_ticks("", all).all, 0);
}

TEST(ProcessorLoad, IsWhatNeitherWasIdleNorOurs) {
  const ProcessorTicks begin = processor_ticks(kBefore, first_two), end = processor_ticks(kAfter, first_two);
  // Of 200 ticks 60 were idle: 140 were used or stolen.
  EXPECT_DOUBLE_EQ(others_share(begin, end, 0), 0.7);
  EXPECT_DOUBLE_EQ(others_share(begin, end, 1.0), 0.2);
  EXPECT_DOUBLE_EQ(others_share(begin, end, 3.0), 0) << "ticks are coarse, ours are not";
}

TEST(ProcessorLoad, IsNothingWhereNothingCanBeTold) {
  EXPECT_EQ(others_share({100, 0}, {104, 0}, 0), 0);
  EXPECT_EQ(others_share({}, {}, 0), 0);
}

}  // namespace
}  // namespace amdahl
