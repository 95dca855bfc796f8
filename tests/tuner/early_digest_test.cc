#include "tuner/worker/early_digest.h"

#include <gtest/gtest.h>

#include <vector>

namespace amdahl {
namespace {

TEST(EarlyDigest, EveryByteOfASmallOutputCounts) {
  std::vector<std::byte> output(1000);
  const uint64_t digest = early_digest(output, 5);
  for (std::byte& b : output) {
    b = std::byte{1};
    EXPECT_NE(early_digest(output, 5), digest);
    b = std::byte{0};
  }
  EXPECT_EQ(early_digest(output, 5), digest);
}

TEST(EarlyDigest, OfALargeOneTheEndsDoAndSomeLinesBetween) {
  std::vector<std::byte> output(size_t{8} << 20);
  const uint64_t digest = early_digest(output, 5);
  for (size_t at : {size_t{0}, size_t{4095}, output.size() - 4096, output.size() - 1}) {
    output[at] = std::byte{1};
    EXPECT_NE(early_digest(output, 5), digest) << at;
    output[at] = std::byte{0};
  }
  // Half of the output written late is seen whatever the seed.
  std::fill(output.begin() + static_cast<long>(output.size() / 4), output.begin() + static_cast<long>(3 * output.size() / 4), std::byte{1});
  for (uint64_t seed = 0; seed < 20; ++seed) EXPECT_NE(early_digest(output, seed), early_digest(std::vector<std::byte>(output.size()), seed));
}

TEST(EarlyDigest, OfNothingIsSomething) { EXPECT_EQ(early_digest({}, 3), early_digest({}, 3)); }

}  // namespace
}  // namespace amdahl
