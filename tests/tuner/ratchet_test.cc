#include "tuner/validation/ratchet.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "plan/program.h"

namespace amdahl {
namespace {

constexpr double kU = 0x1.0p-24;

// Errors in units of 1e-5 on values of 1, within wide bounds.
Discrepancy errors(double rms, double largest, double deciding) {
  Discrepancy d;
  d.rms_value = 1;
  d.rms_bound = 0.01;
  d.rms_error = 1e-5 * rms;
  d.max_error = 1e-5 * largest;
  d.deciding = deciding;
  return d;
}

TEST(Ratchet, AllowsTwiceTheStartersErrorWhereManyNumbersDecide) {
  EXPECT_FALSE(beyond_ratchet(1e-5, 4e-5, 2, errors(1.9, 7.9, 1e6)));
  EXPECT_TRUE(beyond_ratchet(1e-5, 4e-5, 2, errors(2.2, 4, 1e6)));
  EXPECT_TRUE(beyond_ratchet(1e-5, 4e-5, 2, errors(1, 9.5, 1e6)));
  EXPECT_FALSE(beyond_ratchet(1e-5, 4e-5, 4, errors(3.9, 15.9, 1e6)));
  EXPECT_TRUE(beyond_ratchet(1e-5, 4e-5, 4, errors(4.3, 16, 1e6)));
}

TEST(Ratchet, TightBoundsAreTheJudgeAlone) {
  Discrepancy d = errors(100, 100, 1e6);
  d.rms_bound = 0.9e-4;
  EXPECT_FALSE(beyond_ratchet(1e-5, 4e-5, 2, d));
  EXPECT_FALSE(beyond_ratchet(1e-5, 4e-5, std::numeric_limits<double>::infinity(), errors(100, 100, 1e6)));
}

TEST(Ratchet, RoundingsAreAllowedWhereTheStarterIsExact) {
  Discrepancy d = errors(0, 0, 1e6);
  d.rms_error = 7.9 * kU;
  d.max_error = 47 * kU;
  EXPECT_FALSE(beyond_ratchet(0, 0, 2, d));
  d.max_error = 49 * kU;
  EXPECT_TRUE(beyond_ratchet(0, 0, 2, d));
  d.max_error = 0;
  d.rms_error = 8.1 * kU;
  EXPECT_TRUE(beyond_ratchet(0, 0, 2, d));
}

// Two honest programs with the same distribution of errors: almost never beyond, however few numbers decide. One whose errors are four times as
// large is found once they are some hundreds.
TEST(Ratchet, LuckIsAllowedForFewNumbersAndNothingElseIs) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> error;
  for (int n : {1, 2, 3, 4, 8, 34, 100, 1000}) {
    int honest_refused = 0, coarse_refused = 0;
    constexpr int kTrials = 4000;
    for (int trial = 0; trial < kTrials; ++trial) {
      double square[2] = {}, largest[2] = {};
      for (int i = 0; i < n; ++i)
        for (int program = 0; program < 2; ++program) {
          const double e = error(random);
          square[program] += e * e;
          largest[program] = std::max(largest[program], std::abs(e));
        }
      const double starter = 1e-5 * std::sqrt(square[0] / n), challenger = std::sqrt(square[1] / n);
      honest_refused += beyond_ratchet(starter, 1e-5 * largest[0], 2, errors(challenger, largest[1], n)).has_value();
      coarse_refused += beyond_ratchet(starter, 1e-5 * largest[0], 2, errors(4 * challenger, 4 * largest[1], n)).has_value();
    }
    EXPECT_LE(honest_refused, n <= 2 ? kTrials / 50 : kTrials / 500) << n;
    if (n >= 100) {
      EXPECT_GE(coarse_refused, 0.99 * kTrials) << n;
    }
  }
}

// Outputs of one shape: `bounds` says how the errors may differ in size.
double deciding(const std::vector<float>& bounds) {
  Program program;
  Program::Buffer buffer;
  buffer.dtype = DType::kF32;
  buffer.shape = {static_cast<int64_t>(bounds.size())};
  buffer.bytes = 4 * bounds.size();
  program.buffers = {buffer};
  program.outputs = {0};
  Expected expected;
  expected.outputs.resize(1);
  expected.outputs[0].shape = buffer.shape;
  expected.outputs[0].floats = BoundedFloats<float>{std::vector<float>(bounds.size(), 1), bounds};
  const std::vector<float> values(bounds.size(), 1);
  return compare(expected, program, std::as_bytes(std::span(values))).deciding;
}

TEST(Ratchet, NumbersWithFarSmallerErrorsDoNotDecide) {
  EXPECT_DOUBLE_EQ(deciding(std::vector<float>(1000, 0.5f)), 1000);
  std::vector<float> bounds(1000, 1e-4f);
  for (int i = 0; i < 10; ++i) bounds[static_cast<size_t>(i) * 100] = 1;
  EXPECT_NEAR(deciding(bounds), 10, 0.01);
  // In two parts on two threads: the same.
  std::vector<float> many(1 << 20, 1e-4f);
  for (size_t i = 0; i < many.size(); i += 1 << 15) many[i] = 1;
  EXPECT_NEAR(deciding(many), 32, 0.05);
}

}  // namespace
}  // namespace amdahl
