#include "base/statistics.h"

#include <gtest/gtest.h>

namespace amdahl {
namespace {

TEST(Median, IsTheMiddleOne) {
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({9, -1, 2}), 2);
}

TEST(Median, OfAnEvenNumberLiesBetweenTheTwoInTheMiddle) {
  EXPECT_EQ(median({8, 1}), 4.5);
  EXPECT_EQ(median({5, 100, 1, 2}), 3.5);
  EXPECT_EQ(median({3, 3, 1, 9}), 3);
}

TEST(Median, OfNoneIsZero) { EXPECT_EQ(median({}), 0); }

}  // namespace
}  // namespace amdahl
