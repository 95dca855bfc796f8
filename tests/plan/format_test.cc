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

TEST(Format, ChannelsLastRoundTrips) {
  const Shape shape{2, 3, 4, 5};
  std::vector<uint16_t> plain(static_cast<size_t>(numel(shape)));
  for (size_t i = 0; i < plain.size(); ++i) plain[i] = static_cast<uint16_t>(i + 1);
  EXPECT_EQ(storage_bytes(DType::kF16, shape, "nhwc"), plain.size() * 2);
  std::vector<uint16_t> stored(plain.size()), back(plain.size());
  to_format(reinterpret_cast<const std::byte*>(plain.data()), reinterpret_cast<std::byte*>(stored.data()), DType::kF16, shape, "nhwc");
  // Channel 2 of image 1, pixel (3, 4).
  EXPECT_EQ(stored[((1 * 4 + 3) * 5 + 4) * 3 + 2], plain[((1 * 3 + 2) * 4 + 3) * 5 + 4]);
  from_format(reinterpret_cast<const std::byte*>(stored.data()), reinterpret_cast<std::byte*>(back.data()), DType::kF16, shape, "nhwc");
  EXPECT_EQ(back, plain);
}

TEST(Format, ChannelsLastIsWalkedByImagePixelAndChannel) {
  Problem problem;
  const Shape shape{2, 8, 3, 5};
  Access by_channel = Access::dense(DType::kF16, shape), one_pixel = by_channel;
  by_channel.strides = {0, 1, 0, 0};
  one_pixel.strides = {8, 1, 0, 0};
  problem.in = {Access::dense(DType::kF16, shape), by_channel, one_pixel};
  problem.out = {Access::dense(DType::kF16, shape)};
  set_formats(problem, {"nhwc", "", "nhwc"}, {"nhwc"});
  EXPECT_TRUE(channels_last(problem));
  EXPECT_FALSE(in_channel_blocks(problem));
  const Problem stored = stored_channels_last(problem, 0);
  EXPECT_FALSE(has_formats(stored));
  for (const Access& a : {stored.in[0], stored.in[1], stored.in[2], stored.out[0]}) EXPECT_EQ(a.shape, (Shape{2, 15, 8}));
  EXPECT_EQ(stored.in[0].strides, (Shape{120, 8, 1}));
  EXPECT_EQ(stored.in[1].strides, (Shape{0, 0, 1}));
  EXPECT_EQ(stored.in[2].strides, (Shape{8, 0, 1}));
  EXPECT_EQ(stored.out[0].strides, (Shape{120, 8, 1}));
  set_formats(problem, {"nhwc", "", "nchw8c"}, {"nhwc"});
  EXPECT_TRUE(in_channel_blocks(problem));
  EXPECT_FALSE(channels_last(problem));
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
