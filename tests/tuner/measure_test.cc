// The plan of a race, and what its outputs are held against.

#include "tuner/measurement/measure.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace amdahl {
namespace {

// Whoever shares the core slows both runs of a row: rows 3 to 5 took twice as long.
TEST(MedianLogRatio, DoesNotSeePhases) {
  const std::vector<double> a{3, 3, 6, 6, 6, 3}, b{2, 2, 4, 4, 4, 2};
  EXPECT_DOUBLE_EQ(median_log_ratio(a, b), std::log(1.5));
  EXPECT_DOUBLE_EQ(median_log_ratio(b, a), -std::log(1.5));
}

TEST(MedianLogRatio, OneDisturbedRunIsOneVoice) {
  EXPECT_DOUBLE_EQ(median_log_ratio({3, 30, 3, 3, 3}, {2, 2, 2, 2, 2}), std::log(1.5));
  EXPECT_DOUBLE_EQ(median_log_ratio({}, {}), 0);
}

constexpr size_t kBudget = size_t{48} << 20;

TEST(Segments, LastAtLeastOneAndAHalfMilliseconds) {
  EXPECT_EQ(plan_segments(1e-4, 0.25, 1000, kBudget).calls, 15);
  EXPECT_EQ(plan_segments(5e-3, 0.25, 1000, kBudget).calls, 1);
}

TEST(Segments, HaveNoMoreCallsThanFitIntoMemory) {
  EXPECT_EQ(plan_segments(1e-4, 0.25, size_t{24} << 20, kBudget).calls, 2);
  EXPECT_EQ(plan_segments(1e-4, 0.25, size_t{1} << 30, kBudget).calls, 1);
}

TEST(Segments, OperandsStayInHalfOfTheLastLevelCache) {
  DeviceInfo machine;
  machine.l3_bytes = 32 << 20;
  EXPECT_EQ(operand_budget(machine), size_t{16} << 20);
  machine.l3_bytes = 105 << 20;
  EXPECT_EQ(operand_budget(machine), size_t{48} << 20);
  EXPECT_EQ(plan_segments(1e-4, 0.25, size_t{5} << 20, size_t{16} << 20).calls, 3);
}

Program with_weights(size_t bytes) {
  Program p;
  Program::Buffer b;
  b.role = Program::Role::kConstant;
  b.blob_offset = -1;
  b.bytes = bytes;
  p.buffers = {b};
  return p;
}

// Between two calls as many other bytes are read as in a run of the model.
TEST(CopiesOfWeights, AreAsColdAsInTheModel) {
  EXPECT_EQ(copies_for(with_weights(size_t{5} << 20), size_t{24} << 20), 4);
  EXPECT_EQ(copies_for(with_weights(size_t{5} << 20), size_t{5} << 20), 1) << "the model has no others";
  EXPECT_EQ(copies_for(with_weights(size_t{9} << 20), size_t{500} << 20), 10) << "96 MiB in all";
  EXPECT_EQ(copies_for(with_weights(size_t{60} << 20), size_t{500} << 20), 1);
  EXPECT_EQ(copies_for(with_weights(size_t{32} << 10), size_t{500} << 20), 1);
}

TEST(Segments, BlocksFollowTheBudget) {
  EXPECT_EQ(plan_segments(1e-3, 0.25, 1000, kBudget).blocks, 10);
  EXPECT_EQ(plan_segments(0.1, 0.25, 1000, kBudget).blocks, 2);
  EXPECT_EQ(plan_segments(0.1, 0.25, 1000, kBudget, 1).blocks, 1);
}

TEST(Segments, AreShortWhereTheDeviceTimesThem) {
  const Segments s = plan_segments(1e-5, 0.25, 1000, kBudget, 2, kByClockOfDevice);
  EXPECT_EQ(s.calls, 50);
  EXPECT_EQ(s.blocks, 4);
  EXPECT_EQ(segment_limits(cpu_worker_backend()).most_blocks, SegmentLimits{}.most_blocks);
}

Program one_output(int64_t n, DType dtype = DType::kF32) {
  Program p;
  Program::Buffer b;
  b.shape = {n};
  b.dtype = dtype;
  b.role = Program::Role::kOutput;
  b.bytes = static_cast<size_t>(n) * size_of(dtype);
  p.buffers = {b};
  p.outputs = {0};
  return p;
}

template <typename T>
std::span<const std::byte> bytes(const std::vector<T>& values) {
  return std::as_bytes(std::span<const T>(values));
}

double share_different(const Program& p, std::span<const std::byte> a, std::span<const std::byte> b, double tolerance) {
  return share_of_elements(p, count_different(p, a, p, b, tolerance));
}

TEST(ShareDifferent, CountsWhatIsBeyondTheTolerance) {
  const Program p = one_output(4);
  const std::vector<float> a{1, 2, 3, 4}, b{1, 2.5f, 3.05f, 4};
  EXPECT_EQ(share_different(p, bytes(a), bytes(b), 0.1), 0.25);
  EXPECT_EQ(share_different(p, bytes(a), bytes(b), 0.01), 0.5);
}

TEST(ShareDifferent, NaNEqualsNaNAloneAndInfinitiesTheirLike) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();
  const Program p = one_output(4);
  const std::vector<float> a{kNaN, kInf, -kInf, 1};
  EXPECT_EQ(share_different(p, bytes(a), bytes(a), 0.1), 0);
  const std::vector<float> b{1, -kInf, -kInf, kNaN};
  EXPECT_EQ(share_different(p, bytes(a), bytes(b), 1e30), 0.75);
}

TEST(ShareDifferent, OfHalvesIsByTheirRoundings) {
  const Program p = one_output(4, DType::kF16);
  constexpr uint16_t kOne = 0x3c00, kSameAsOne = 0x3c03, kOther = 0x3c20, kInf = 0x7c00, kNaN = 0x7e01, kTiny = 0x0001;
  const std::vector<uint16_t> a{kOne, kOne, kInf, kNaN}, b{kSameAsOne, kOther, kInf, kNaN};
  EXPECT_EQ(share_different(p, bytes(a), bytes(b), 0), 0.25);
  // Infinity is within no share of itself from what is finite, whichever of the two has it.
  const std::vector<uint16_t> c{kInf, kInf, kOne, kTiny}, d{kOne, kInf, kInf, kTiny};
  EXPECT_EQ(share_different(p, bytes(c), bytes(d), 0), 0.5);
  const Program q = one_output(2, DType::kBF16);
  const std::vector<uint16_t> e{0x3f80, 0x7f80}, f{0x3f81, 0x3f80};
  EXPECT_EQ(share_different(q, bytes(e), bytes(f), 0), 0.5);
}

TEST(ShareDifferent, IntegersMustBeEqual) {
  const Program p = one_output(2, DType::kI64);
  const std::vector<int64_t> a{1, 2}, b{1, 3};
  EXPECT_EQ(share_different(p, bytes(a), bytes(b), 100), 0.5);
}

}  // namespace
}  // namespace amdahl
