// What inputs and weights hold: that what a distribution promises is there, however small the tensor.

#include "tuner/validation/inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

namespace amdahl {
namespace {

std::vector<double> drawn(DType dtype, const Shape& shape, const Draw& draw, int source = 0) {
  std::byte* data;
  const Tensor t = Tensor::allocate(dtype, shape, &data);
  fill_input(data, dtype, shape, draw, source, {});
  return to_doubles(t);
}
std::vector<double> drawn(DType dtype, int64_t n, const Draw& draw, int source = 0) { return drawn(dtype, Shape{n}, draw, source); }

std::vector<int64_t> drawn_integers(DType dtype, int64_t n, Distribution distribution) {
  std::byte* data;
  const Tensor t = Tensor::allocate(dtype, {n}, &data);
  fill_input(data, dtype, {n}, {distribution}, 0, {0, 2, true});
  return to_ints(t);
}

std::vector<double> weights(DType dtype, int64_t n, Weights distribution, int turn = 0) {
  Draw draw;
  draw.weights = distribution;
  draw.turn = turn;
  std::byte* data;
  const Tensor t = Tensor::allocate(dtype, {n}, &data);
  fill_weight(data, dtype, n, 0.5, 2, draw, 3);
  return to_doubles(t);
}

struct Seen {
  bool nan = false, inf = false, minus_inf = false, zero = false, minus_zero = false, denormal = false, largest = false, lowest = false, smallest = false;
  void add(const std::vector<double>& x, double end, double normal) {
    for (double v : x) {
      nan |= std::isnan(v);
      inf |= v == HUGE_VAL;
      minus_inf |= v == -HUGE_VAL;
      zero |= v == 0 && !std::signbit(v);
      minus_zero |= v == 0 && std::signbit(v);
      denormal |= v != 0 && std::fabs(v) < normal;
      largest |= v == end;
      lowest |= v == -end;
      smallest |= std::fabs(v) == normal;
    }
  }
  bool finite() const { return zero && minus_zero && denormal && largest && lowest && smallest; }
  bool all() const { return finite() && nan && inf && minus_inf; }
};

struct Type {
  DType dtype;
  double largest, smallest_normal;
};
const std::vector<Type> kTypes = {{DType::kF32, std::numeric_limits<float>::max(), 0x1.0p-126},
                                  {DType::kF64, std::numeric_limits<double>::max(), 0x1.0p-1022},
                                  {DType::kF16, 65504, 0x1.0p-14},
                                  {DType::kBF16, 0x1.fep127, 0x1.0p-126}};

TEST(Inputs, EveryTensorHoldsEachSpecialHoweverSmall) {
  for (const Type& type : kTypes)
    for (int64_t n : {1, 2, 4, 15, 100, 5000})
      for (int source : {0, 1, 2}) {
        Seen inputs, limits, in_weights;
        for (int turn = 0; turn < turns(n); ++turn) {
          for (Distribution distribution : {Distribution::kSpecial, Distribution::kLimits}) {
            Draw draw{distribution, static_cast<uint64_t>(77 + turn)};
            draw.turn = turn;
            (distribution == Distribution::kSpecial ? inputs : limits).add(drawn(type.dtype, n, draw, source), type.largest, type.smallest_normal);
          }
          in_weights.add(weights(type.dtype, n, Weights::kSpecial, turn), type.largest, type.smallest_normal);
        }
        EXPECT_TRUE(inputs.all()) << name_of(type.dtype) << " " << n;
        EXPECT_TRUE(limits.finite() && !limits.nan && !limits.inf && !limits.minus_inf) << name_of(type.dtype) << " " << n;
        EXPECT_TRUE(in_weights.all()) << name_of(type.dtype) << " " << n;
      }
}

TEST(Inputs, SmallTensorsKeepMostOfTheirNumbers) {
  for (const int64_t n : {16, 100, 1000}) {
    const auto x = drawn(DType::kF32, n, {Distribution::kSpecial, 5});
    EXPECT_GE(std::count_if(x.begin(), x.end(), [](double v) { return std::fabs(v) > 1e-6 && std::fabs(v) < 4; }), n * 3 / 4) << n;
  }
}

TEST(Inputs, ExponentsReachFromDenormalsToTheLargest) {
  for (const Type& type : kTypes) {
    const auto x = drawn(type.dtype, Shape{40, 100}, {Distribution::kExponents, 9}), wide = drawn(type.dtype, 4000, {Distribution::kWide, 9});
    const auto magnitude = [](double a, double b) { return std::fabs(a) < std::fabs(b); };
    EXPECT_GT(std::fabs(*std::max_element(x.begin(), x.end(), magnitude)), type.largest / 8);
    EXPECT_LT(std::fabs(*std::min_element(x.begin(), x.end(), magnitude)), type.smallest_normal / 16);
    EXPECT_FALSE(std::any_of(x.begin(), x.end(), [](double v) { return !std::isfinite(v); }));
    // A square of these, and a sum of thousands of squares, is a number of the type that sums are made in.
    EXPECT_LT(std::pow(*std::max_element(wide.begin(), wide.end()), 2) * 4096, type.dtype == DType::kF64 ? HUGE_VAL : 0x1.0p127);
  }
}

// Doubles that are floats say nothing of a kernel that rounds them to floats.
TEST(Inputs, DoublesHaveAllOfTheirBits) {
  const auto share_of_floats = [](const std::vector<double>& x) {
    return static_cast<double>(std::count_if(x.begin(), x.end(), [](double v) { return v == static_cast<float>(v); })) / static_cast<double>(x.size());
  };
  const auto has_last_bits = [](double v) { return v != 0 && std::isfinite(v) && (std::bit_cast<uint64_t>(v) & 3); };
  for (Distribution distribution : {Distribution::kNormal, Distribution::kUniform, Distribution::kOffset, Distribution::kLarge, Distribution::kHeavyTail,
                                    Distribution::kSpecial, Distribution::kAlternate, Distribution::kExponents, Distribution::kWide, Distribution::kLimits}) {
    const auto x = drawn(DType::kF64, Shape{40, 100}, {distribution, 21});
    EXPECT_LT(share_of_floats(x), 0.15) << name_of(distribution);  // zeros and infinities
    EXPECT_GT(std::count_if(x.begin(), x.end(), has_last_bits), 1000) << name_of(distribution);
  }
  EXPECT_LT(share_of_floats(drawn(DType::kF64, 100, {Distribution::kEqual, 4})), 0.5);
  for (Weights distribution : {Weights::kNormal, Weights::kConstant, Weights::kWide})
    EXPECT_LT(share_of_floats(weights(DType::kF64, 4000, distribution)), 0.02);
  for (double w : weights(DType::kF64, 100, Weights::kDenormal)) EXPECT_LT(std::fabs(w), 0x1.0p-1022);
}

TEST(Inputs, DoublesAreDistributedAsFloats) {
  for (Distribution distribution : {Distribution::kNormal, Distribution::kUniform}) {
    const auto wide = drawn(DType::kF64, 4000, {distribution, 8}), narrow = drawn(DType::kF32, 4000, {distribution, 8});
    for (size_t i = 0; i < wide.size(); ++i) ASSERT_NEAR(wide[i], narrow[i], 3e-5);
  }
}

// What a sum over a row of one kind loses, a row of all kinds hides behind its largest number.
TEST(Inputs, SomeRowsAreOfOneExponent) {
  for (const Type& type : kTypes)
    for (uint64_t seed : {1, 2, 3, 4, 5, 6}) {
      constexpr int64_t kRows = 32, kLength = 60;
      const auto x = drawn(type.dtype, Shape{kRows, kLength}, {Distribution::kExponents, seed});
      int zeros = 0, denormal = 0, even = 0, positive = 0;
      const auto look_at = [&](int64_t first, int64_t step, int64_t n) {
        int lowest = 5000, highest = -5000, negative = 0;
        for (int64_t i = 0; i < n; ++i) {
          const double v = x[static_cast<size_t>(first + i * step)];
          lowest = std::min(lowest, v == 0 ? -5000 : std::ilogb(v));
          highest = std::max(highest, v == 0 ? -5000 : std::ilogb(v));
          negative += v < 0;
        }
        const bool is_even = highest - lowest <= 1 && highest > -5000;  // narrower types round up
        zeros += highest == -5000;
        even += is_even;
        denormal += is_even && std::ldexp(1.0, highest) <= type.smallest_normal;
        positive += is_even && negative == 0;
      };
      for (int64_t row = 0; row < kRows; ++row) look_at(row * kLength, 1, kLength);
      if (zeros == 0) continue;  // its rows are columns
      EXPECT_EQ(zeros, kRows / 8) << name_of(type.dtype);
      EXPECT_EQ(even, kRows / 2) << name_of(type.dtype);
      EXPECT_GE(denormal, kRows / 8) << name_of(type.dtype);
      EXPECT_GT(positive, 0) << name_of(type.dtype);
    }
}

TEST(Inputs, SomeRowsOfTheFirstInputAreHidden) {
  const auto hidden_rows = [](const Draw& draw, int source) {
    const auto x = drawn(DType::kF32, Shape{48, 30}, draw, source);
    int hidden = 0;
    for (size_t row = 0; row < 48; ++row)
      hidden += std::all_of(x.begin() + static_cast<std::ptrdiff_t>(30 * row), x.begin() + static_cast<std::ptrdiff_t>(30 * row + 30),
                            [](double v) { return v == -HUGE_VAL; });
    return hidden;
  };
  Draw near{Distribution::kSpecial, 6};
  near.turn = Draw::kNear;
  EXPECT_EQ(hidden_rows({Distribution::kSpecial, 6}, 0), 3);
  EXPECT_EQ(hidden_rows({Distribution::kSpecial, 6}, 1), 0);
  EXPECT_EQ(hidden_rows(near, 0), 0);
}

TEST(Inputs, IntegersThatAreNumbersReachTheirEnds) {
  for (Distribution distribution : {Distribution::kExponents, Distribution::kLimits}) {
    const auto i32 = drawn_integers(DType::kI32, 2000, distribution);
    const auto i8 = drawn_integers(DType::kI8, 2000, distribution);
    const auto u8 = drawn_integers(DType::kU8, 2000, distribution);
    const auto i64 = drawn_integers(DType::kI64, 2000, distribution);
    const auto has = [](const std::vector<int64_t>& x, int64_t v) { return std::count(x.begin(), x.end(), v) > 0; };
    EXPECT_TRUE(has(i32, INT32_MIN) && has(i32, INT32_MAX) && has(i32, 0) && has(i32, -1));
    EXPECT_TRUE(has(i8, -128) && has(i8, 127));
    EXPECT_TRUE(has(u8, 0) && has(u8, 255));
    EXPECT_TRUE(has(i64, INT64_MIN) && has(i64, INT64_MAX));
  }
  for (int64_t v : drawn_integers(DType::kI32, 500, Distribution::kNormal)) EXPECT_TRUE(v == 0 || v == 1);
}

TEST(Inputs, WeightsAreDistributedAsTheySay) {
  const auto sparse = weights(DType::kF32, 8000, Weights::kSparse), constant = weights(DType::kF32, 3000, Weights::kConstant),
             wide = weights(DType::kF32, 8000, Weights::kWide), denormal = weights(DType::kF32, 100, Weights::kDenormal);
  EXPECT_NEAR(static_cast<double>(std::count(sparse.begin(), sparse.end(), 0.0)), 7000, 200);
  EXPECT_EQ(std::set<double>(constant.begin(), constant.end()).size(), 1u);
  EXPECT_TRUE(std::any_of(wide.begin(), wide.end(), [](double w) { return std::fabs(w) > 16; }));
  EXPECT_TRUE(std::any_of(wide.begin(), wide.end(), [](double w) { return std::fabs(w) < 0x1.0p-22; }));
  for (double w : denormal) EXPECT_LT(std::fabs(w), 0x1.0p-126);
}

// What a narrower algorithm spreads over its neighbours is NaN in its reference: infinities, and numbers near them.
TEST(Inputs, WhatMayBecomeInfiniteIsSpoilt) {
  Draw draw{Distribution::kLimits, 3};
  draw.infinities_as_nan = true;
  const auto x = drawn(DType::kF32, 100, draw);
  EXPECT_TRUE(std::any_of(x.begin(), x.end(), [](double v) { return std::isnan(v); }));
  for (double v : x) EXPECT_FALSE(std::fabs(v) > 1e30);
}

TEST(Inputs, DrawsOfTheSameWeightsSaySo) {
  Draw a, b;
  b.distribution = Distribution::kSpecial;
  b.turn = 3;
  EXPECT_EQ(how_weights_are_drawn(a), how_weights_are_drawn(b));
  b.weights = a.weights = Weights::kSpecial;
  EXPECT_NE(how_weights_are_drawn(a), how_weights_are_drawn(b));
  b.turn = 0;
  b.weights = Weights::kSparse;
  EXPECT_NE(how_weights_are_drawn(a), how_weights_are_drawn(b));
}

}  // namespace
}  // namespace amdahl
