#include "profiler/repetitions.h"

#include <gtest/gtest.h>

namespace amdahl {
namespace {

TEST(Repetitions, ThoseThatWereCutInTwoSayNothing) {
  const std::vector<Timed> timed{{1.0, 1.0}, {1.3, 4.0}, {1.1, 1.2}, {0.9, 1.0}, {1.5, 9.0}};
  EXPECT_EQ(trusted_seconds(timed), (std::vector<double>{1.0, 1.1, 0.9}));
  EXPECT_DOUBLE_EQ(share_disturbed(timed), 0.4);
}

// On a machine that is never quiet: processor time, never the wall clock.
TEST(Repetitions, AllCountWhereHardlyAnyWasLeftAlone) {
  const std::vector<Timed> timed{{1.0, 1.0}, {1.3, 4.0}, {1.1, 1.2}, {1.5, 9.0}};
  EXPECT_EQ(trusted_seconds(timed), (std::vector<double>{1.0, 1.3, 1.1, 1.5}));
  EXPECT_EQ(share_disturbed({}), 0);
}

}  // namespace
}  // namespace amdahl
