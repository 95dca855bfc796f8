#include "tuner/measurement/dropped_pairs.h"

#include <gtest/gtest.h>

namespace amdahl {
namespace {

using Ratios = std::vector<double>;

TEST(DroppedPairs, ALossIsDroppedInExchangeForAWin) {
  DroppedPairs dropped;
  dropped.add(-0.5, false);
  EXPECT_TRUE(dropped.owes());
  dropped.add(0.1, true);
  EXPECT_FALSE(dropped.owes());
  EXPECT_TRUE(dropped.take_owed().empty());
  EXPECT_EQ(dropped.log_ratios(), (Ratios{-0.5, 0.1}));
}

TEST(DroppedPairs, LossesBeyondThatCountAfterAllAndOnce) {
  DroppedPairs dropped;
  dropped.add(0.1, true);
  for (double loss : {-0.1, -0.2, -0.3}) dropped.add(loss, false);
  EXPECT_EQ(dropped.take_owed(), (Ratios{-0.2, -0.3}));
  EXPECT_EQ(dropped.log_ratios(), (Ratios{0.1, -0.1}));
  EXPECT_FALSE(dropped.owes());
  EXPECT_TRUE(dropped.take_owed().empty());
}

TEST(DroppedPairs, WinsAloneAreSimplyLost) {
  DroppedPairs dropped;
  for (int i = 0; i < 5; ++i) dropped.add(0.2, true);
  EXPECT_FALSE(dropped.owes());
  EXPECT_EQ(dropped.count(), 5);
}

}  // namespace
}  // namespace amdahl
