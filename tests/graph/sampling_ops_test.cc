// Images read between their elements: what ONNX's own cases (onnx_conformance_test.cc) do not reach.

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "tests/graph/one_node.h"
#include "tests/graph/op_fixture.h"

namespace amdahl {
namespace {

using test::floats;
using test::ints;
using test::kInf;
using test::kNaN;
using test::run_one;
using Doubles = std::vector<double>;

test::OpRun grid_sample(const char* mode, const char* padding, int64_t corners, int version = 20) {
  return {"GridSample", version, {{"mode", std::string(mode)}, {"padding_mode", std::string(padding)}, {"align_corners", corners}}};
}

// Positions along a row of elements, as a grid has them.
RefTensor grid_of(const Doubles& places, double size, bool corners) {
  RefTensor grid = floats({1, static_cast<int64_t>(places.size()), 1}, {});
  for (const double p : places) grid.value.push_back(corners ? p / (size - 1) * 2 - 1 : (2 * p + 1) / size - 1);
  return grid;
}

RefTensor elements_in_a_row(const Doubles& x) { return floats({1, 1, static_cast<int64_t>(x.size())}, x); }

TEST(GridSample, OutsideOfTheImage) {
  const RefTensor x = elements_in_a_row({1, 2, 4, 8});
  const Doubles places{-3, -1.5, -0.5, 0, 0.25, 3, 3.5, 4.25, 6};
  const auto at = [&](const char* padding, bool corners) {
    const RefTensor grid = grid_of(places, 4, corners);
    return run_one(grid_sample("linear", padding, corners), {&x, &grid});
  };
  for (const bool corners : {false, true}) {
    SCOPED_TRACE(corners);
    test::expect_values(at("zeros", corners), {0, 0, 0.5, 1, 1.25, 8, 4, 0, 0});
    test::expect_values(at("border", corners), {1, 1, 1, 1, 1.25, 8, 8, 8, 8});
  }
  test::expect_values(at("reflection", false), {4, 1.5, 1, 1, 1.25, 8, 8, 7, 2}, 1e-9);   // mirrors stand at the outer edges
  test::expect_values(at("reflection", true), {8, 3, 1.5, 1, 1.25, 8, 6, 3.5, 1}, 1e-9);  // or in the outermost elements
}

// Of a cubic the elements beside the image are padded, not the position: as PyTorch and ONNX Runtime do (decision 0024).
TEST(GridSample, CubicAtTheBorder) {
  const RefTensor x = elements_in_a_row({0, 0, 0, 8}), grid = grid_of({3.5, 4.5, 7}, 4, true);
  test::expect_values(run_one(grid_sample("cubic", "border", 1), {&x, &grid}), {8 * (1 + 0.09375), 8, 8}, 1e-9);
  test::expect_values(run_one(grid_sample("cubic", "zeros", 1), {&x, &grid}), {8 * 0.59375, 8 * -0.09375, 0}, 1e-9);
}

TEST(GridSample, AnImageOfOneElementReflectsItself) {
  const RefTensor x = elements_in_a_row({3}), grid = floats({1, 4, 1}, {-7, -1, 0.5, 100});
  for (const char* mode : {"nearest", "linear", "cubic"})
    for (const int64_t corners : {0, 1}) test::expect_values(run_one(grid_sample(mode, "reflection", corners), {&x, &grid}), {3, 3, 3, 3}, 1e-9);
}

// Halves are rounded to even, and are known where nothing is rounded on the way; a position that may lie on either side says so.
TEST(GridSample, NearestIsUncertainWhereRoundingDecides) {
  const RefTensor x = elements_in_a_row({1, 2, 4, 8});
  RefTensor grid = grid_of({0.5, 1.5, 2.5, 2.5}, 4, false);
  grid.bound = {0, 0, 0, 1e-6};
  const RefTensor y = run_one(grid_sample("nearest", "zeros", 0), {&x, &grid});
  EXPECT_EQ(y.value, (Doubles{1, 4, 4, 4}));
  EXPECT_EQ(y.bound, (Doubles{0, 0, 0, 4}));
  RefTensor whole = ints({1, 1, 4}, {1, 2, 4, 8});
  const RefTensor z = run_one(grid_sample("nearest", "zeros", 0), {&whole, &grid});
  EXPECT_EQ(z.ints, (std::vector<int64_t>{1, 4, 4, 4}));
  EXPECT_EQ(z.bound, (Doubles{0, 0, 0, 4}));
}

TEST(GridSample, PositionsThatSayNothingLeaveItOpen) {
  const RefTensor x = elements_in_a_row({1, 2, 4, 8}), grid = floats({1, 4, 1}, {kNaN, 1e9, -1e9, 3e38});
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    EXPECT_EQ(run_one(grid_sample(mode, "reflection", 0), {&x, &grid}).bound, (Doubles{kInf, kInf, kInf, kInf})) << mode;
    const RefTensor y = run_one(grid_sample(mode, "border", 0), {&x, &grid});
    EXPECT_EQ(y.bound[0], kInf) << mode;
    EXPECT_NEAR(y.value[1], 8, 1e-12) << mode;
    EXPECT_NEAR(y.value[2], 1, 1e-12) << mode;
    EXPECT_LT(y.bound[1], 1e-4) << mode;
  }
}

// What is not finite counts where its weight surely is not zero.
TEST(GridSample, InfinitiesAndNaN) {
  const RefTensor x = elements_in_a_row({kInf, 2, kNaN, 8}), grid = grid_of({0.5, 1, 1.5, 3}, 4, false);
  const RefTensor y = run_one(grid_sample("linear", "zeros", 0), {&x, &grid});
  EXPECT_EQ(y.value[0], kInf);
  EXPECT_EQ(y.bound[1], kInf);  // the element beside it has a weight of zero, or none
  EXPECT_TRUE(std::isnan(y.value[2]));
  EXPECT_EQ(y.bound[2], 0);
  EXPECT_EQ(y.value[3], 8);
}

float keys(float t) {
  const float a = -0.75f, d = std::fabs(t);
  return d < 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : d < 2 ? a * (((d - 5) * d + 8) * d - 4) : 0;
}
float hat(float t) { return std::max(0.0f, 1 - std::fabs(t)); }

// [1, 2, 9, 11] at 200 places, most of them inside.
std::vector<float> by_a_loop(const RefTensor& x, const RefTensor& grid, float (*kernel)(float), int reach) {
  const std::vector<float> image = test::as_float(x), places = test::as_float(grid);
  std::vector<float> all;
  for (size_t channel = 0; channel < 2; ++channel)
    for (size_t p = 0; p < places.size(); p += 2) {
      const float u = ((places[p] + 1) * 11 - 1) / 2, v = ((places[p + 1] + 1) * 9 - 1) / 2;
      const int left = static_cast<int>(std::floor(u)), top = static_cast<int>(std::floor(v));
      float sum = 0;
      for (int r = top - reach + 1; r <= top + reach; ++r)
        for (int c = left - reach + 1; c <= left + reach; ++c)
          if (r >= 0 && r < 9 && c >= 0 && c < 11)
            sum += kernel(v - static_cast<float>(r)) * kernel(u - static_cast<float>(c)) * image[channel * 99 + static_cast<size_t>(r * 11 + c)];
      all.push_back(sum);
    }
  return all;
}

TEST(GridSample, Fp32LoopLiesWithinTheBound) {
  const RefTensor x = test::random_floats({1, 2, 9, 11}, 3), grid = test::random_floats({1, 20, 10, 2}, 4, -1.1, 1.1);
  test::expect_honest(run_one(grid_sample("linear", "zeros", 0), {&x, &grid}), by_a_loop(x, grid, hat, 1));
  test::expect_honest(run_one(grid_sample("cubic", "zeros", 0), {&x, &grid}), by_a_loop(x, grid, keys, 2));
  EXPECT_EQ(run_one(grid_sample("bicubic", "zeros", 0, 16), {&x, &grid}).value, run_one(grid_sample("cubic", "zeros", 0), {&x, &grid}).value);
}

// A position off by e moves the result by e times the slope, and no further.
TEST(GridSample, BoundsOfPositionsAndElementsAreCarried) {
  RefTensor x = elements_in_a_row({0, 1, 2, 3}), grid = grid_of({0.5, 1, 2.75}, 4, false);
  x.bound = {0, 0.01, 0.01, 0.01};
  grid.bound = {0.001, 0.001, 0.001};
  for (const char* mode : {"linear", "cubic"}) {
    const RefTensor y = run_one(grid_sample(mode, "border", 0), {&x, &grid});
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_GE(y.bound[i], 0.002 + 0.005) << mode;
      EXPECT_LE(y.bound[i], 0.04) << mode;
    }
  }
}

TEST(GridSample, WhatIsRefused) {
  const RefTensor x = elements_in_a_row({1, 2}), image = ints({1, 1, 2}, {1, 2}), grid = floats({1, 1, 1}, {0}), other = floats({2, 1, 1}, {0, 0});
  EXPECT_THROW(run_one(grid_sample("linear", "zeros", 0), {&x, &other}), Refusal);
  EXPECT_THROW(run_one(grid_sample("linear", "zeros", 0), {&image, &grid}), Refusal);
  EXPECT_THROW(run_one(grid_sample("quadratic", "zeros", 0), {&x, &grid}), Refusal);
  EXPECT_THROW(run_one(grid_sample("linear", "wrap", 0), {&x, &grid}), Refusal);
}

// ---- Regions.

test::OpRun roi_align(const char* mode, const char* coordinates, int64_t samples, int version = 16) {
  test::OpRun run{"RoiAlign", version, {{"mode", std::string(mode)}, {"sampling_ratio", samples}, {"output_height", int64_t{2}}, {"output_width", int64_t{2}}}};
  if (version >= 16) run.attributes["coordinate_transformation_mode"] = std::string(coordinates);
  return run;
}

// [1, 1, 4, 4]: 0, 1, … 15.
RefTensor ramp() {
  RefTensor x = floats({1, 1, 4, 4}, {});
  for (int i = 0; i < 16; ++i) x.value.push_back(i);
  return x;
}

// Means of a plane are its values in the middle of each bin.
TEST(RoiAlign, ByHand) {
  const RefTensor x = ramp(), rois = floats({1, 4}, {0, 0, 4, 2}), first = ints({1}, {0});
  // Bins of 1 x 2 elements, a sample or two in each dimension: rows from -0.5, columns from -0.5 (half a pixel), those before 0 are 0.
  test::expect_values(run_one(roi_align("avg", "output_half_pixel", 1), {&x, &rois, &first}), {0.5 * 4 + 1, 0.5 * 4 + 3, 1.5 * 4 + 1, 1.5 * 4 + 3}, 1e-9);
  test::expect_values(run_one(roi_align("avg", "", 1, 10), {&x, &rois, &first}), {3, 5, 7, 9}, 1e-9);
  test::expect_values(run_one(roi_align("avg", "half_pixel", 1), {&x, &rois, &first}), {0.5, 2.5, 4.5, 6.5}, 1e-9);
  // Two samples for a width of 2, one for a height of 1.
  test::expect_values(run_one(roi_align("avg", "half_pixel", 0), {&x, &rois, &first}), {0.5, 2.5, 4.5, 6.5}, 1e-9);
  // Of the elements by their weights: at (0.5, 1) half of the elements 1 and 5, and nothing of those beside them.
  test::expect_values(run_one(roi_align("max", "output_half_pixel", 1), {&x, &rois, &first}), {2.5, 3.5, 4.5, 5.5}, 1e-9);
}

TEST(RoiAlign, BeyondTheImage) {
  const RefTensor x = ramp(), rois = floats({3, 4}, {-1, -1, 0, 0, 3, 3, 5, 5, 8, 8, 1, 1}), first = ints({3}, {0, 0, 0});
  const RefTensor y = run_one(roi_align("avg", "output_half_pixel", 1), {&x, &rois, &first});
  test::expect_values(floats({1, 4}, {y.value.begin(), y.value.begin() + 4}), {0, 0, 0, 0});  // of the first element
  test::expect_values(floats({1, 4}, {y.value.begin() + 4, y.value.begin() + 8}), {15, 0, 0, 0}, 1e-9);
  test::expect_values(floats({1, 4}, {y.value.begin() + 8, y.value.end()}), {0, 0, 0, 0});  // the wrong way round: a region of one element
}

// How many samples a bin has is known where nothing is rounded on the way to it, and whether one counts where its place is.
TEST(RoiAlign, IsOpenWhereRoundingDecides) {
  const RefTensor x = ramp(), first = ints({2}, {0, 0});
  RefTensor rois = floats({2, 4}, {0, 0, 4, 4, 0, 0, 4, 4});
  rois.bound = {0, 0, 0, 0, 0, 0, 1e-6, 0};
  const RefTensor y = run_one(roi_align("avg", "output_half_pixel", 0), {&x, &rois, &first});
  for (size_t i = 0; i < 4; ++i) EXPECT_LT(y.bound[i], 1e-4);
  for (size_t i = 4; i < 8; ++i) EXPECT_EQ(y.bound[i], kInf);
  const RefTensor given = run_one(roi_align("avg", "output_half_pixel", 2), {&x, &rois, &first});
  for (const double bound : given.bound) EXPECT_LT(bound, 1e-4);
  RefTensor at_the_end = floats({2, 4}, {3, 0, 7, 4, 3, 0, 7, 4});  // samples at 4, where the image has been left by one element
  at_the_end.bound = {0, 0, 0, 0, 1e-6, 0, 1e-6, 0};
  const RefTensor z = run_one(roi_align("avg", "output_half_pixel", 1), {&x, &at_the_end, &first});
  EXPECT_NEAR(z.value[0], 7, 1e-9);
  EXPECT_LT(z.bound[0], 1e-4);
  EXPECT_GE(z.bound[4], z.value[0]);
  for (const double far : {kNaN, kInf, 1e30}) {
    const RefTensor lost = floats({2, 4}, {far, 0, 1, 1, 0, 0, far, 1});
    for (const double bound : run_one(roi_align("max", "half_pixel", 0), {&x, &lost, &first}).bound) EXPECT_EQ(bound, kInf);
  }
}

TEST(RoiAlign, Fp32LoopLiesWithinTheBound) {
  const RefTensor x = test::random_floats({1, 1, 9, 9}, 5), first = ints({40}, std::vector<int64_t>(40, 0));
  RefTensor rois = test::random_floats({40, 4}, 6, 0, 4);
  for (size_t i = 0; i < 160; ++i)
    if (i % 4 > 1) rois.value[i] = static_cast<float>(rois.value[i] + 4.1);
  std::vector<float> computed;
  for (size_t r = 0; r < 40; ++r)
    for (int bin = 0; bin < 4; ++bin) {
      float sum = 0;
      const auto at = [&](size_t axis, int b, int i) {
        const auto start = static_cast<float>(rois.value[r * 4 + axis]) - 0.5f, size = static_cast<float>(rois.value[r * 4 + 2 + axis]) - 0.5f - start;
        return start + static_cast<float>(b) * (size / 2) + (static_cast<float>(i) + 0.5f) * (size / 2) / 3;
      };
      for (int i = 0; i < 9; ++i) {
        const float v = at(1, bin / 2, i / 3), u = at(0, bin % 2, i % 3);
        for (int h = 0; h < 9; ++h)
          for (int w = 0; w < 9; ++w) {
            const float weight = hat(std::clamp(v, 0.0f, 8.0f) - static_cast<float>(h)) * hat(std::clamp(u, 0.0f, 8.0f) - static_cast<float>(w));
            sum += weight * static_cast<float>(x.value[static_cast<size_t>(h * 9 + w)]);
          }
      }
      computed.push_back(sum / 9);
    }
  test::expect_honest(run_one(roi_align("avg", "half_pixel", 3), {&x, &rois, &first}), computed);
}

TEST(RoiAlign, WhatIsRefused) {
  const RefTensor x = ramp(), rois = floats({1, 4}, {0, 0, 1, 1}), first = ints({1}, {0}), two = ints({2}, {0, 0}), beside = ints({1}, {1});
  EXPECT_THROW(run_one(roi_align("avg", "half_pixel", 1), {&x, &rois, &two}), Refusal);
  EXPECT_THROW(run_one(roi_align("min", "half_pixel", 1), {&x, &rois, &first}), Refusal);
  EXPECT_THROW(run_one(roi_align("avg", "whole_pixel", 1), {&x, &rois, &first}), Refusal);
  EXPECT_THROW(run_one(roi_align("avg", "half_pixel", 1 << 20), {&x, &rois, &first}), Refusal);
  EXPECT_THROW(run_one(roi_align("avg", "half_pixel", 1), {&x, &rois, &beside}), Error);
}

TEST(MaxRoiPool, ByHand) {
  RefTensor x = floats({1, 1, 8, 8}, {});
  for (int i = 0; i < 64; ++i) x.value.push_back(i);
  RefTensor rois = floats({5, 5}, {0, 0.5, 1.5, 6.5, 4.4, 0, 6, 6, 2, 2, 0, -3, -3, -1, -1, 0, 9, 9, 12, 12, 0, 0.5, 1.5, 6.5, 4.4});
  rois.bound.assign(25, 0);
  rois.bound[21] = 1e-6;
  const RefTensor y = run_one({"MaxRoiPool", 17, {{"pooled_shape", std::vector<int64_t>{2, 3}}}}, {&x, &rois});
  test::expect_values(floats({1, 24}, {y.value.begin(), y.value.begin() + 24}),
                      {27, 29, 31, 35, 37, 39, 54, 54, 54, 54, 54, 54, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});  // as ONNX Runtime has it
  for (size_t i = 0; i < 24; ++i) EXPECT_EQ(y.bound[i], 0);
  for (size_t i = 24; i < 30; ++i) EXPECT_EQ(y.bound[i], kInf);  // its corner is halfway between two elements
}

// ---- DeformConv.

// Of [2, 4, 6, 5] by [6, 2, 3, 2]: two groups, two groups of offsets, every attribute.
TEST(DeformConv, AgreesWithALoop) {
  const RefTensor x = test::random_floats({2, 4, 6, 5}, 1), w = test::random_floats({6, 2, 3, 2}, 2), b = test::random_floats({6}, 3);
  const RefTensor offset = test::random_floats({2, 24, 3, 5}, 4, -2, 2), mask = test::random_floats({2, 12, 3, 5}, 5);
  const auto element = [&](size_t image, size_t c, double h, double v) {
    double sum = 0;
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 5; ++j)
        sum += std::fmax(0, 1 - std::fabs(h - i)) * std::fmax(0, 1 - std::fabs(v - j)) *
               x.value[((image * 4 + c) * 6 + static_cast<size_t>(i)) * 5 + static_cast<size_t>(j)];
    return sum;
  };
  std::vector<double> expected;
  for (size_t n = 0; n < 2; ++n)
    for (size_t m = 0; m < 6; ++m)
      for (size_t p = 0; p < 15; ++p) {
        double sum = b.value[m];
        for (size_t k = 0; k < 12; ++k) {
          const size_t tap = k % 6, channel = m / 3 * 2 + k / 6, of = (n * 2 + channel / 2) * 6 + tap;
          const double h = static_cast<double>(p / 5 * 2 + tap / 2) - 1 + offset.value[of * 2 * 15 + p];
          const double v = static_cast<double>(p % 5 + tap % 2 * 2) - 1 + offset.value[(of * 2 + 1) * 15 + p];
          sum += w.value[m * 12 + k] * mask.value[of * 15 + p] * element(n, channel, h, v);
        }
        expected.push_back(sum);
      }
  testing::OneNode node("", "DeformConv", 19);
  node.data(x).data(w).data(offset).data(b).data(mask).set("group", 2).set("offset_group", 2).set("kernel_shape", {3, 2});
  const RefTensor y = node.set("strides", {2, 1}).set("dilations", {1, 2}).set("pads", {1, 1, 0, 1}).output();
  EXPECT_EQ(y.shape, (Shape{2, 6, 3, 5}));
  test::expect_values(y, expected, 1e-5);  // positions pass through fp32 constants
}

TEST(DeformConv, OfOneDimensionAndWhatIsRefused) {
  const RefTensor x = floats({1, 1, 3}, {1, 2, 4}), w = floats({1, 1, 2}, {1, 10}), offset = floats({1, 2, 2}, {0, 0.5, 0, -0.25});
  const auto node = [&](const RefTensor& moved) { return testing::OneNode("", "DeformConv", 19).data(x).data(w).data(moved); };
  test::expect_values(node(offset).output(), {1 + 20, 3 + 10 * 3.5}, 1e-5);
  EXPECT_NE(node(floats({1, 2, 3}, {})).refusal().find("offsets [1, 2, 3] for an input [1, 1, 3]"), std::string::npos);
  EXPECT_NE(node(floats({1, 4, 2}, {})).refusal().find("offsets [1, 4, 2]"), std::string::npos);
  EXPECT_NE(node(offset).set("group", 2).refusal().find("2 groups"), std::string::npos);
  EXPECT_NE(node(offset).set("kernel_shape", std::vector<int64_t>{3}).refusal().find("other windows"), std::string::npos);
}

}  // namespace
}  // namespace amdahl
