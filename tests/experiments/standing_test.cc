#include "experiments/standing.h"

#include <gtest/gtest.h>

namespace amdahl {
namespace {

const Gain kFast{0.20, 0.15, 0.25, 12}, kFaster{0.40, 0.35, 0.45, 9}, kLittle{0.01, -0.01, 0.03, 9}, kSlow{-0.1, -0.2, -0.05, 9};

TEST(Standing, IsLevelWhereTheIntervalHoldsOne) {
  EXPECT_EQ(standing_of(kFast), Standing::kFaster);
  EXPECT_EQ(standing_of(kLittle), Standing::kLevel);
  EXPECT_EQ(standing_of({0.05, 0, 0.1, 7}), Standing::kLevel);
  EXPECT_EQ(standing_of(kSlow), Standing::kSlower);
  EXPECT_EQ(name_of(Standing::kLevel), "level");
}

TEST(Standing, AClaimHoldsWhereIntervalsMeetAndAGainShows) {
  EXPECT_EQ(contradiction(kFast, {0.22, 0.18, 0.30, 9}), "");
  EXPECT_NE(contradiction(kFast, {0.10, 0.05, 0.12, 9}), "") << "less";
  EXPECT_EQ(contradiction({0.912, 0.911, 0.913, 12}, {0.908, 0.907, 0.909, 9}), "") << "another sitting";
  EXPECT_NE(contradiction({0.912, 0.911, 0.913, 12}, {0.902, 0.901, 0.903, 9}), "") << "less, and more than a sitting's";
  EXPECT_NE(contradiction(kFast, kFaster), "") << "what was reported was not that either";
  EXPECT_NE(contradiction(kFast, {0.1, -0.05, 0.2, 9}), "") << "they meet, but no gain shows";
  EXPECT_NE(contradiction(kFast, kSlow), "");
}

TEST(Standing, AClaimOfLevelHoldsWhereNothingShows) {
  EXPECT_EQ(contradiction(kLittle, {0.0, -0.02, 0.02, 9}), "");
  EXPECT_NE(contradiction(kLittle, kSlow), "");
}

}  // namespace
}  // namespace amdahl
