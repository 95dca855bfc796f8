#include "plan/format.h"

#include <gtest/gtest.h>

#include "starter_kernels/cpu/vector_width.h"
#include "starter_kernels/kinds/formats.h"

namespace amdahl {
namespace {

TEST(Format, BlockedRoundTripsAndPadsWithZero) {
  const Shape shape{2, 19, 3, 5};
  std::vector<float> plain(static_cast<size_t>(numel(shape)));
  for (size_t i = 0; i < plain.size(); ++i) plain[i] = static_cast<float>(i + 1);
  const size_t bytes = storage_bytes(DType::kF32, shape, "nchw16c");
  EXPECT_EQ(bytes, 2u * 2 * 15 * 16 * 4);
  std::vector<float> stored(bytes / 4, -1.0f), back(plain.size());
  to_format(reinterpret_cast<const std::byte*>(plain.data()), reinterpret_cast<std::byte*>(stored.data()), DType::kF32, shape, "nchw16c");
  // Channel 17 of batch 1, pixel (2, 4): block 1, lane 1.
  EXPECT_EQ(stored[((1 * 2 + 1) * 15 + 14) * 16 + 1], plain[((1 * 19 + 17) * 3 + 2) * 5 + 4]);
  EXPECT_EQ(stored[((0 * 2 + 1) * 15 + 0) * 16 + 3], 0.0f);  // channel 19 does not exist
  from_format(reinterpret_cast<const std::byte*>(stored.data()), reinterpret_cast<std::byte*>(back.data()), DType::kF32, shape, "nchw16c");
  EXPECT_EQ(back, plain);
}

TEST(Format, ABlockOfChannelsIsAVectorOfTheMachine) {
  DeviceInfo machine;
  machine.features = {"avx2", "fma"};
  EXPECT_EQ(channel_block(blocked_format(machine)), 8);
  machine.features = {"avx2", "avx512f", "fma"};
  EXPECT_EQ(channel_block(blocked_format(machine)), 16);
}

}  // namespace
}  // namespace amdahl
