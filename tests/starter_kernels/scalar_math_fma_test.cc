// exp_within has ln2 in one part where a product and a sum are one operation. Here with such instructions, whatever the other tests are built for.

#include <gtest/gtest.h>

#include <cmath>

#if defined(__x86_64__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#include "starter_kernels/cpu/kernels/scalar_math.h"

namespace amdahl {
namespace {

TEST(ScalarMath, ExpBelowZeroWithFusedProductsIsWithinTwoUlpAndATwentySecondOfX) {
  if (!__builtin_cpu_supports("fma")) GTEST_SKIP() << "no fused products here";
  for (uint32_t b = 0x80000000u; b < scalar::bits<uint32_t>(-87.33f); b += 97) {
    const float x = scalar::bits<float>(b);
    const double exact = std::exp(double{x}), ulp = std::ldexp(1.0, std::ilogb(exact) - 23);
    ASSERT_LE(std::fabs(scalar::exp_below_zero(x) - exact), (2.2 - double{x} / 22) * ulp) << x;
  }
  EXPECT_EQ(scalar::exp_below_zero(-__builtin_inff()), 0.0f);
  EXPECT_TRUE(std::isnan(scalar::exp_below_zero(scalar::bits<float>(0xffffffffu))));
}

}  // namespace
}  // namespace amdahl
#pragma GCC pop_options
#endif
