// Every function against libm in double over a stride through all 2^32 floats, so that each binade, denormals, zeros,
// infinities and NaNs are met; then the special values one by one.

#include "starter_kernels/cpu/kernels/scalar_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "graph/tensor.h"

namespace amdahl {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

double ulp_of(double exact) {
  const double a = std::fabs(exact);
  if (a < 0x1p-126) return 0x1p-149;
  return std::ldexp(1.0, std::ilogb(a) - 23);
}

// Largest error in ulp of the exact result. A result that overflows float must be the infinity, NaN must be NaN. `floor`:
// exact results below it may come out as anything of that size (flush to zero).
template <class F, class G>
double worst_ulp(F function, G exact_function, double floor = 0) {
  double worst = 0;
  for (uint64_t b = 0; b < (uint64_t{1} << 32); b += 9973) {
    const float x = scalar::bits<float>(static_cast<uint32_t>(b));
    const double exact = exact_function(static_cast<double>(x));
    const float y = function(x);
    if (std::isnan(exact)) {
      if (!std::isnan(y)) return kInf;
    } else if (std::fabs(exact) >= 0x1.fffffep127) {
      if (std::fabs(y) < 0x1.fffffcp127 || std::signbit(y) != std::signbit(exact)) return kInf;
    } else if (std::fabs(exact) < floor) {
      if (!(std::fabs(y) <= floor)) return kInf;
    } else {
      const double error = std::fabs(y - exact) / ulp_of(exact);
      if (!(error <= worst)) worst = error;
    }
  }
  return worst;
}

TEST(ScalarMath, ExpIsWithinTwoUlpAndFlushesBelowFltMin) {
  EXPECT_LT(worst_ulp([](float x) { return scalar::exp(x); }, [](double x) { return std::exp(x); }, 0x1p-126), 2);
  EXPECT_EQ(scalar::exp(-kInf), 0.0f);
  EXPECT_EQ(scalar::exp(kInf), kInf);
  EXPECT_EQ(scalar::exp(0.0f), 1.0f);
  EXPECT_EQ(scalar::exp(1000.0f), kInf);
  EXPECT_EQ(scalar::exp(-1000.0f), 0.0f);
  // A NaN whose payload would look like an exponent shift.
  EXPECT_TRUE(std::isnan(scalar::exp(scalar::bits<float>(0xffffffffu))));
}

// Beside the polynomial's, an error that grows with x: that of ln2 in one part.
TEST(ScalarMath, ExpBelowZeroIsWithinTwoUlpAndATwentySecondOfX) {
  for (float limit : {0x1p-6f, 1.0f, 4.0f, 16.0f, 40.0f, 87.3f}) {
    const auto x_of = [=](auto x) { return std::isnan(x) || std::fabs(x) <= limit ? -std::fabs(x) : decltype(x)(0); };
    EXPECT_LT(worst_ulp([=](float x) { return scalar::exp_below_zero(x_of(x)); }, [=](double x) { return std::exp(x_of(x)); }, 0x1p-126), 2.2 + limit / 22)
        << limit;
  }
  EXPECT_EQ(scalar::exp_below_zero(0.0f), 1.0f);
  EXPECT_EQ(scalar::exp_below_zero(-0.0f), 1.0f);
  EXPECT_GT(scalar::exp_below_zero(-87.3f), 0.0f);
  for (float x : {-87.34f, -88.0f, -89.0f, -1000.0f, -3e38f, -kInf}) EXPECT_EQ(scalar::exp_below_zero(x), 0.0f) << x;
  EXPECT_EQ((scalar::exp_within_of<float, uint32_t>(-88.0f)), 0.0f);
  for (uint32_t nan : {0x7fc00000u, 0xffc00000u, 0xffffffffu, 0x7fffffffu, 0xffc00081u}) {
    EXPECT_TRUE(std::isnan(scalar::exp_below_zero(scalar::bits<float>(nan)))) << nan;
    EXPECT_TRUE(std::isnan(scalar::exp_within_of<float, uint32_t>(scalar::bits<float>(nan)))) << nan;
  }
}

TEST(ScalarMath, Exp2SaturatedIsZeroAndInfinityBeyondItsEnds) {
  const auto saturated = [](float x) { return scalar::exp2_saturated_of<float, uint32_t>(x); };
  const auto x_of = [](auto x) { return std::fabs(x) <= 125.9 ? x : 0 * std::copysign(decltype(x)(1), x); };
  EXPECT_LT(worst_ulp([=](float x) { return saturated(x_of(x)); }, [=](double x) { return std::exp2(x_of(x)); }), 2.2);
  for (float x : {128.0f, 129.0f, 1000.0f, 3e38f, kInf}) {
    EXPECT_EQ(saturated(x), kInf) << x;
    EXPECT_EQ(saturated(-x), 0.0f) << x;
  }
  for (float x : {-20.0f, -1e4f, -1e30f}) EXPECT_EQ(scalar::gelu_tanh_product(x), 0.0f) << x;
  for (float x : {20.0f, 1e4f, 1e30f, kInf}) EXPECT_EQ(scalar::gelu_tanh_product(x), x) << x;
  EXPECT_EQ(scalar::gelu_tanh(-kInf), 0.0f);
  EXPECT_TRUE(std::isnan(scalar::gelu_tanh_product(-kInf)));  // -infinity times zero
  for (uint32_t nan : {0x7fc00000u, 0xffc00000u, 0xffffffffu}) EXPECT_TRUE(std::isnan(scalar::gelu_tanh(scalar::bits<float>(nan)))) << nan;
}

// Of x times a factor in [0, 1] the factor's absolute error counts: a tail of 1e-9 has few right digits, and needs none.
TEST(ScalarMath, NormalShareIsWithinThreeUlpOfAHalf) {
  double worst = 0, worst_at_zero = 0, worst_tail = 0;
  for (uint64_t b = 0; b < (uint64_t{1} << 32); b += 9973) {
    const float x = scalar::bits<float>(static_cast<uint32_t>(b));
    if (std::isnan(x) || std::isinf(x)) continue;
    const double exact = 0.5 * std::erfc(-x * M_SQRT1_2), error = std::fabs(scalar::normal_share_of<float, uint32_t>(x) - exact);
    worst = std::fmax(worst, error);
    if (std::fabs(x) < 1e-3) worst_at_zero = std::fmax(worst_at_zero, error);
    if (x < 0 && x > -5.99) worst_tail = std::fmax(worst_tail, error / exact);
  }
  EXPECT_LT(worst, 0x1.8p-24);
  EXPECT_LT(worst_at_zero, 0x1p-24);
  EXPECT_LT(worst_tail, 2e-4);
  for (float x : {-6.0f, -7.0f, -1e4f, -3e38f}) EXPECT_EQ(scalar::gelu_product(x), 0.0f) << x;
  for (float x : {6.0f, 7.0f, 1e4f, 3e38f, kInf}) EXPECT_EQ(scalar::gelu_product(x), x) << x;
  EXPECT_EQ(scalar::gelu(-kInf), 0.0f);
  EXPECT_TRUE(std::signbit(scalar::gelu_product(-0.0f)));
  EXPECT_TRUE(std::isnan(scalar::gelu_product(-kInf)));  // -infinity times zero
  for (uint32_t nan : {0x7fc00000u, 0xffc00000u, 0xffffffffu}) EXPECT_TRUE(std::isnan(scalar::gelu(scalar::bits<float>(nan)))) << nan;
}

TEST(ScalarMath, SwishProductIsXTimesItsSigmoid) {
  const auto x_of = [](auto x) { return std::fabs(x) <= 80 ? x : 0 * std::copysign(decltype(x)(1), x); };
  // Beside the exponential's and the quotient's, an error that grows with x: that of x log2(e).
  for (float limit : {1.0f, 16.0f, 80.0f}) {
    const auto within = [&](auto x) { return std::fabs(x_of(x)) <= limit ? x_of(x) : decltype(x)(0); };
    EXPECT_LT(worst_ulp([&](float x) { return scalar::swish_product(within(x)); }, [&](double x) { return within(x) / (1 + std::exp(-within(x))); }, 0x1p-126),
              4 + limit)
        << limit;
  }
  for (float x : {-100.0f, -1e4f, -3e38f}) EXPECT_EQ(scalar::swish_product(x), 0.0f) << x;
  for (float x : {100.0f, 1e4f, 3e38f, kInf}) EXPECT_EQ(scalar::swish_product(x), x) << x;
  EXPECT_TRUE(std::isnan(scalar::swish_product(-kInf)));  // -infinity times zero
  EXPECT_TRUE(std::isnan(scalar::swish_product(kNan)));
}

TEST(ScalarMath, Expm1IsWithinThreeUlpNearZeroToo) {
  EXPECT_LT(worst_ulp([](float x) { return scalar::expm1(x); }, [](double x) { return std::expm1(x); }), 3);
  EXPECT_EQ(scalar::expm1(-kInf), -1.0f);
}

TEST(ScalarMath, LogIsWithinTwoUlpForDenormalsToo) {
  EXPECT_LT(worst_ulp([](float x) { return scalar::log(x); }, [](double x) { return std::log(x); }), 2);
  EXPECT_EQ(scalar::log(0.0f), -kInf);
  EXPECT_EQ(scalar::log(kInf), kInf);
  EXPECT_TRUE(std::isnan(scalar::log(-1.0f)));
}

TEST(ScalarMath, Log1pIsWithinTwoUlp) {
  EXPECT_LT(worst_ulp([](float x) { return scalar::log1p(x); }, [](double x) { return std::log1p(x); }), 2.5);
}

TEST(ScalarMath, TanhErfSigmoidAreWithinFourUlp) {
  EXPECT_LT(worst_ulp([](float x) { return scalar::tanh(x); }, [](double x) { return std::tanh(x); }), 4);
  EXPECT_LT(worst_ulp([](float x) { return scalar::erf(x); }, [](double x) { return std::erf(x); }), 2);
  EXPECT_LT(worst_ulp([](float x) { return scalar::sigmoid(x); }, [](double x) { return 1 / (1 + std::exp(-x)); }, 0x1p-126), 4);
  EXPECT_EQ(scalar::tanh(kInf), 1.0f);
  EXPECT_EQ(scalar::erf(-kInf), -1.0f);
  EXPECT_EQ(scalar::sigmoid(-kInf), 0.0f);
}

// The forms for vectors: of four numbers here, as wide as any machine has.
typedef float Four __attribute__((vector_size(16)));
typedef uint32_t FourBits __attribute__((vector_size(16)));

TEST(ScalarMath, FormsForVectorsAreAsPreciseInEveryLane) {
  const auto lanes_of = [](auto function) {
    return [function, lane = 0](float x) mutable {
      const Four y = function(Four{x, x, x, x});
      return y[lane++ % 4];
    };
  };
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  EXPECT_LT(worst_ulp(
                lanes_of([](Four x) { return scalar::exp_of<Four, FourBits>(x); }), [](double x) { return std::exp(x); }, 0x1p-126),
            2);
  const auto below = [](auto x) { return std::fabs(x) <= 4 ? -std::fabs(x) : decltype(x)(0); };
  EXPECT_LT(worst_ulp([&, lane = 0](float x) mutable { return scalar::exp_below_zero_of<Four, FourBits>(Four{} + below(x))[lane++ % 4]; },
                      [&](double x) { return std::exp(below(x)); }),
            2.2);
  const auto power = [](auto x) { return std::fabs(x) <= 125.9 ? x : decltype(x)(0); };
  EXPECT_LT(worst_ulp([&, lane = 0](float x) mutable { return scalar::exp2_saturated_of<Four, FourBits>(Four{} + power(x))[lane++ % 4]; },
                      [&](double x) { return std::exp2(power(x)); }),
            2.2);
  EXPECT_LT(worst_ulp(lanes_of([](Four x) { return scalar::expm1_of<Four, FourBits>(x); }), [](double x) { return std::expm1(x); }), 3);
  EXPECT_LT(worst_ulp(lanes_of([](Four x) { return scalar::tanh_of<Four, FourBits>(x); }), [](double x) { return std::tanh(x); }), 4);
  EXPECT_LT(worst_ulp(lanes_of([](Four x) { return scalar::erf_of<Four, FourBits>(x); }), [](double x) { return std::erf(x); }), 2);
  EXPECT_LT(worst_ulp(lanes_of([](Four x) { return scalar::sigmoid_of<Four, FourBits>(x); }), sigmoid, 0x1p-126), 4);
  for (const float x : {-kInf, -20.0f, -1.0f, -0.0f, 0.0f, 0.3f, 5.0f, kInf, kNan}) {  // these are compositions: the scalar's rounding
    const Four v = Four{x, x, x, x};
    const auto equal = [](float a, float b) { return (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= 1e-6f * std::fabs(b) || a == b; };
    EXPECT_TRUE(equal((scalar::gelu_of<Four, FourBits>(v)[2]), scalar::gelu(x))) << x;
    EXPECT_TRUE(equal((scalar::gelu_tanh_of<Four, FourBits>(v)[2]), scalar::gelu_tanh(x))) << x;
    EXPECT_TRUE(equal((scalar::gelu_product_of<Four, FourBits>(v)[2]), scalar::gelu_product(x))) << x;
    EXPECT_TRUE(equal((scalar::gelu_tanh_product_of<Four, FourBits>(v)[2]), scalar::gelu_tanh_product(x))) << x;
  }
}

TEST(ScalarMath, SinAndCosAreWithinTwoUlpOfAnyFloat) {
  EXPECT_LT(worst_ulp([](float x) { return scalar::sin(x); }, [](double x) { return std::sin(x); }), 2);
  EXPECT_LT(worst_ulp([](float x) { return scalar::cos(x); }, [](double x) { return std::cos(x); }), 2);
}

// Floats beside multiples of pi/2, where what is left is a billionth: the last of them is the nearest that there is (Kahan's 16367173 * 2^72).
TEST(ScalarMath, SinAndCosBesideTheirZeros) {
  for (float x : {1.57079637f, 3.14159274f, 102943.703f, 710.0f, 16367173 * 0x1p72f}) {
    EXPECT_NEAR(scalar::sin(x), std::sin(double{x}), 2 * ulp_of(std::sin(double{x}))) << x;
    EXPECT_NEAR(scalar::cos(-x), std::cos(double{x}), 2 * ulp_of(std::cos(double{x}))) << x;
  }
  EXPECT_EQ(std::signbit(scalar::sin(-0.0f)), true);
  EXPECT_TRUE(std::isnan(scalar::sin(kInf)));
  EXPECT_TRUE(std::isnan(scalar::cos(kNan)));
}

TEST(ScalarMath, PowFollowsCInItsSpecialCases) {
  const float values[] = {0.0f, -0.0f, 1.0f, -1.0f, 0.5f, -0.5f, 2.0f, -2.0f, 3.0f, -3.0f, 2.5f, -2.5f, 1e-40f, 1e30f, -1e30f, kInf, -kInf, kNan};
  for (float x : values)
    for (float y : values) {
      const float expected = std::pow(x, y), got = scalar::pow(x, y);
      if (std::isnan(expected)) EXPECT_TRUE(std::isnan(got)) << x << " " << y;
      else if (std::isinf(expected)) EXPECT_EQ(got, expected) << x << " " << y;
      else EXPECT_NEAR(got, expected, std::fabs(expected) * 1e-7f) << x << " " << y;
    }
}

TEST(ScalarMath, TheHalfPowerFollowsCInItsSpecialCases) {
  for (float x : {0.0f, -0.0f, 4.0f, -1.0f, kInf, -kInf, kNan}) {
    const float expected = std::pow(x, 0.5f), got = scalar::pow_half(x);
    EXPECT_TRUE(std::isnan(expected) ? std::isnan(got) : got == expected && std::signbit(got) == std::signbit(expected)) << x;
  }
}

TEST(ScalarMath, ClipPassesEveryNaN) {
  EXPECT_EQ(scalar::clip(2.0f, -1.0f, 1.0f), 1.0f);
  EXPECT_EQ(scalar::clip(0.0f, 1.0f, -1.0f), -1.0f);
  EXPECT_TRUE(std::isnan(scalar::clip(kNan, -1.0f, 1.0f)));
  EXPECT_TRUE(std::isnan(scalar::clip(0.5f, kNan, 1.0f)));
  EXPECT_TRUE(std::isnan(scalar::clip(0.5f, -1.0f, kNan)));
}

TEST(ScalarMath, PowIsWithinOneUlp) {
  for (float y : {-2.0f, -0.75f, 0.01f, 0.3333f, 2.5f, 17.3f})
    EXPECT_LT(worst_ulp([y](float x) { return scalar::pow(x, y); }, [y](double x) { return std::pow(x, double{y}); }), 1) << y;
}

TEST(ScalarMath, MaxMinClipReluCarryNan) {
  EXPECT_TRUE(std::isnan(scalar::max(kNan, 1.0f)));
  EXPECT_TRUE(std::isnan(scalar::max(1.0f, kNan)));
  EXPECT_TRUE(std::isnan(scalar::min(kNan, 1.0f)));
  EXPECT_TRUE(std::isnan(scalar::clip(kNan, 0.0f, 1.0f)));
  EXPECT_TRUE(std::isnan(scalar::relu(kNan)));
  EXPECT_TRUE(std::isnan(scalar::hardswish(kNan)));
  EXPECT_TRUE(std::isnan(scalar::mish(kNan)));
}

TEST(ScalarMath, HalfFloatsRoundToNearestEven) {
  for (uint64_t b = 0; b < (uint64_t{1} << 32); b += 99991) {
    const float x = scalar::bits<float>(static_cast<uint32_t>(b));
    if (std::isnan(x)) {
      EXPECT_TRUE(std::isnan(scalar::round_bf16(x)));
      continue;
    }
    EXPECT_EQ(scalar::to_bf16(x), f32_to_bf16(x)) << x;
    EXPECT_EQ(scalar::round_f16(x), f16_to_f32(f64_to_f16(x))) << x;
  }
}

TEST(ScalarMath, IntegersWrapAndNeverTrap) {
  EXPECT_EQ(scalar::div_int<int32_t>(7, 0), 0);
  EXPECT_EQ(scalar::div_int<int32_t>(INT32_MIN, -1), INT32_MIN);
  EXPECT_EQ(scalar::div_int<int8_t>(-7, 2), -3);
  EXPECT_EQ(scalar::mod_int<int32_t>(-7, 3), 2);
  EXPECT_EQ(scalar::mod_int<int32_t>(7, -3), -2);
  EXPECT_EQ(scalar::fmod_int<int32_t>(-7, 3), -1);
  EXPECT_EQ(scalar::fmod_int<int64_t>(INT64_MIN, -1), 0);
  EXPECT_EQ((scalar::pow_int<int32_t, int32_t>(3, 5)), 243);
  EXPECT_EQ((scalar::pow_int<int32_t, int32_t>(2, -1)), 0);
  EXPECT_EQ(scalar::abs_int<int8_t>(-128), -128);
  EXPECT_EQ((scalar::to_int<int64_t, float>(kNan)), 0);
  EXPECT_EQ((scalar::to_int<int64_t, float>(1e30f)), INT64_MAX);
  EXPECT_EQ((scalar::to_int<int32_t, float>(-2.9f)), -2);
}

}  // namespace
}  // namespace amdahl
