#include "base/time_text.h"

#include <gtest/gtest.h>

namespace amdahl {
namespace {

TEST(TimeText, HasThreeDigitsAndTheUnitThatFits) {
  EXPECT_EQ(time_text(1.2345), "1.23 s");
  EXPECT_EQ(time_text(0.0123456), "12.3 ms");
  EXPECT_EQ(time_text(0.000999), "999 µs");
  EXPECT_EQ(time_text(0.9999), "1.00 s");
  EXPECT_EQ(time_text(4.4e-6), "4.40 µs");
  EXPECT_EQ(time_text(5.2e-8), "52.0 ns");
  EXPECT_EQ(time_text(0), "0 s");
}

}  // namespace
}  // namespace amdahl
