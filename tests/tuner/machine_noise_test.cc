#include "tuner/trials/machine_noise.h"

#include <gtest/gtest.h>

namespace amdahl {
namespace {

MachineNoise noise_with(int pairs, int dropped) {
  MachineNoise n;
  for (int kernel = 0; kernel < 2; ++kernel) {
    n.kernels.emplace_back();
    n.kernels.back().pairs = pairs / 2;
  }
  n.pairs_dropped = dropped;
  return n;
}

TEST(MachineNoise, OfABusyHourIsKnownByItsPairs) {
  EXPECT_FALSE(noise_with(40, 0).while_busy());
  EXPECT_FALSE(noise_with(40, 20).while_busy());
  EXPECT_TRUE(noise_with(40, 21).while_busy());
  EXPECT_TRUE(Json(noise_with(40, 30)).get<MachineNoise>().while_busy()) << "the cached file tells";
}

}  // namespace
}  // namespace amdahl
