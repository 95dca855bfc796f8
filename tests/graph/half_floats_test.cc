// Half floats are what their bits say: every one of both types.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "graph/tensor.h"

namespace amdahl {
namespace {

// Sign, `exponent` bits and `mantissa` bits, as IEEE 754 reads them.
double read_bits(uint16_t bits, int exponent, int mantissa) {
  const int bias = (1 << (exponent - 1)) - 1, largest = (1 << exponent) - 1, e = bits >> mantissa & largest, m = bits & ((1 << mantissa) - 1);
  double value = e == 0 ? std::ldexp(m, 1 - bias - mantissa) : std::ldexp(m + (1 << mantissa), e - bias - mantissa);
  if (e == largest) value = m == 0 ? HUGE_VAL : std::nan("");
  return bits >> 15 ? -value : value;
}

TEST(HalfFloats, AreReadExactly) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto h = static_cast<uint16_t>(bits);
    const double f16 = read_bits(h, 5, 10), bf16 = read_bits(h, 8, 7);
    const float got_f16 = f16_to_f32(h), got_bf16 = bf16_to_f32(h);
    ASSERT_TRUE(std::isnan(f16) ? std::isnan(got_f16) : got_f16 == f16) << bits;
    ASSERT_TRUE(std::isnan(bf16) ? std::isnan(got_bf16) : got_bf16 == bf16) << bits;
    ASSERT_EQ(std::signbit(got_f16), h >> 15 == 1) << bits;
    ASSERT_EQ(std::signbit(got_bf16), h >> 15 == 1) << bits;
  }
}

TEST(HalfFloats, AreWrittenBackAsTheyWere) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto h = static_cast<uint16_t>(bits);
    EXPECT_TRUE(std::isnan(f16_to_f32(h)) || f64_to_f16(f16_to_f32(h)) == h) << bits;
    EXPECT_TRUE(std::isnan(bf16_to_f32(h)) || f32_to_bf16(bf16_to_f32(h)) == h) << bits;
  }
}

}  // namespace
}  // namespace amdahl
