#include "tests/graph/op_fixture.h"

namespace amdahl::test {
namespace {

using Ints = std::vector<int64_t>;

struct Conv2d {
  int64_t groups = 1, stride = 1, pad = 0, dilation = 1;
};

// Straight from the definition, in type T.
template <typename T>
std::vector<T> plain_conv(const RefTensor& x, const RefTensor& w, const RefTensor* bias, Conv2d p) {
  const int64_t n = x.shape[0], c = x.shape[1], h = x.shape[2], v = x.shape[3];
  const int64_t m = w.shape[0], cg = w.shape[1], kh = w.shape[2], kw = w.shape[3];
  const int64_t oh = (h + 2 * p.pad - (kh - 1) * p.dilation - 1) / p.stride + 1;
  const int64_t ow = (v + 2 * p.pad - (kw - 1) * p.dilation - 1) / p.stride + 1;
  std::vector<T> y;
  for (int64_t b = 0; b < n; ++b)
    for (int64_t o = 0; o < m; ++o)
      for (int64_t i = 0; i < oh; ++i)
        for (int64_t j = 0; j < ow; ++j) {
          T sum = 0;
          for (int64_t q = 0; q < cg; ++q)
            for (int64_t r = 0; r < kh; ++r)
              for (int64_t s = 0; s < kw; ++s) {
                const int64_t ih = i * p.stride - p.pad + r * p.dilation, iw = j * p.stride - p.pad + s * p.dilation;
                if (ih < 0 || ih >= h || iw < 0 || iw >= v) continue;
                const int64_t channel = o / (m / p.groups) * cg + q;
                sum += static_cast<T>(x.value[static_cast<size_t>(((b * c + channel) * h + ih) * v + iw)]) *
                       static_cast<T>(w.value[static_cast<size_t>(((o * cg + q) * kh + r) * kw + s)]);
              }
          y.push_back(sum + (bias ? static_cast<T>(bias->value[static_cast<size_t>(o)]) : T(0)));
        }
  return y;
}

RefTensor run_conv(const RefTensor& x, const RefTensor& w, const RefTensor* bias, Conv2d p) {
  const OpRun run{
      "Conv",
      11,
      {{"group", p.groups}, {"strides", Ints{p.stride, p.stride}}, {"pads", Ints{p.pad, p.pad, p.pad, p.pad}}, {"dilations", Ints{p.dilation, p.dilation}}}};
  return run_one(run, {&x, &w, bias});
}

TEST(Conv, MatchesTheDefinition) {
  const RefTensor bias = random_floats({6}, 3);
  for (const Conv2d p : {Conv2d{1, 1, 0, 1}, Conv2d{1, 2, 1, 1}, Conv2d{2, 1, 1, 2}, Conv2d{3, 2, 2, 1}}) {
    const RefTensor x = random_floats({2, 6, 9, 11}, 1), w = random_floats({6, 6 / p.groups, 3, 3}, 2);
    expect_values(run_conv(x, w, &bias, p), plain_conv<double>(x, w, &bias, p));
  }
}

TEST(Conv, DepthwiseMatchesTheDefinition) {
  const Conv2d p{4, 2, 1, 1};
  const RefTensor x = random_floats({2, 4, 8, 7}, 1), w = random_floats({8, 1, 3, 3}, 2);  // multiplier of two
  expect_values(run_conv(x, w, nullptr, p), plain_conv<double>(x, w, nullptr, p));
}

TEST(Conv, LargeImageIsUnfoldedInBlocks) {
  // 64 * 9 rows of 150 * 150 positions are three blocks of 32 MiB.
  const RefTensor x = random_floats({1, 64, 150, 150}, 1), w = random_floats({2, 64, 3, 3}, 2);
  expect_values(run_conv(x, w, nullptr, {1, 1, 1, 1}), plain_conv<double>(x, w, nullptr, {1, 1, 1, 1}));
}

TEST(Conv, BoundCoversAnHonestLoop) {
  const RefTensor x = random_floats({1, 16, 10, 10}, 1), w = random_floats({8, 16, 3, 3}, 2), bias = random_floats({8}, 3);
  expect_honest(run_conv(x, w, &bias, {1, 1, 1, 1}), plain_conv<float>(x, w, &bias, {1, 1, 1, 1}));
}

TEST(Conv, OneAndThreeDimensions) {
  const RefTensor x = floats({1, 1, 4}, {1, 2, 3, 4}), w = floats({1, 1, 2}, {1, 10});
  expect_values(run_one({"Conv", 11, {{"pads", Ints{1, 0}}}}, {&x, &w}), {10, 21, 32, 43});
  const RefTensor x3 = floats({1, 1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), w3 = floats({1, 1, 2, 1, 1}, {1, 10});
  const RefTensor y3 = run_one({"Conv", 11}, {&x3, &w3});
  EXPECT_EQ(y3.shape, (Shape{1, 1, 1, 2, 2}));
  expect_values(y3, {51, 62, 73, 84});
}

TEST(Conv, AutoPadPutsTheOddElementWhereItSays) {
  const RefTensor x = floats({1, 1, 3}, {1, 2, 3}), w = floats({1, 1, 2}, {1, 10});
  expect_values(run_one({"Conv", 11, {{"auto_pad", std::string("SAME_UPPER")}}}, {&x, &w}), {21, 32, 3});
  expect_values(run_one({"Conv", 11, {{"auto_pad", std::string("SAME_LOWER")}}}, {&x, &w}), {10, 21, 32});
  expect_values(run_one({"Conv", 11, {{"auto_pad", std::string("VALID")}}}, {&x, &w}), {21, 32});
}

TEST(Conv, RefusesWhatDoesNotFit) {
  const RefTensor x = random_floats({1, 4, 5, 5}, 1), w = random_floats({4, 3, 3, 3}, 2), big = random_floats({4, 4, 7, 7}, 2);
  EXPECT_THROW(run_one({"Conv", 11}, {&x, &w}), Refusal);
  EXPECT_THROW(run_one({"Conv", 11}, {&x, &big}), Refusal);
}

TEST(ConvTranspose, ScattersEachInput) {
  const RefTensor x = floats({1, 1, 3}, {1, 2, 3}), w = floats({1, 1, 3}, {1, 10, 100});
  expect_values(run_one({"ConvTranspose", 11}, {&x, &w}), {1, 12, 123, 230, 300});
  expect_values(run_one({"ConvTranspose", 11, {{"strides", Ints{2}}, {"pads", Ints{1, 1}}, {"output_padding", Ints{1}}}}, {&x, &w}),
                {10, 102, 20, 203, 30, 300});
  expect_values(run_one({"ConvTranspose", 11, {{"strides", Ints{2}}, {"output_shape", Ints{6}}}}, {&x, &w}), {10, 102, 20, 203, 30, 300});
}

// Of an output shape that is given, an odd element of padding is at the start unless auto_pad is SAME_UPPER (the formula of ONNX's opset 11, and what ONNX
// Runtime 1.32 computes of any opset). Without padding the stride of 2 gives 1, 10, 102, 20, 203, 30, 300.
TEST(ConvTranspose, AnOutputShapeLeavesTheOddPaddingAtTheStart) {
  const RefTensor x = floats({1, 1, 3}, {1, 2, 3}), w = floats({1, 1, 3}, {1, 10, 100});
  const auto run = [&](int version, const char* auto_pad, int64_t size, int64_t output_padding = 0) {
    return run_one({"ConvTranspose",
                    version,
                    {{"strides", Ints{2}}, {"output_shape", Ints{size}}, {"output_padding", Ints{output_padding}}, {"auto_pad", std::string(auto_pad)}}},
                   {&x, &w});
  };
  for (int version : {1, 10, 11, 22}) {
    for (const char* auto_pad : {"NOTSET", "SAME_LOWER", "VALID"}) {
      expect_values(run(version, auto_pad, 6), {10, 102, 20, 203, 30, 300});
      expect_values(run(version, auto_pad, 4), {102, 20, 203, 30});
    }
    expect_values(run(version, "SAME_UPPER", 6), {1, 10, 102, 20, 203, 30});
    expect_values(run(version, "SAME_UPPER", 4), {10, 102, 20, 203});
    expect_values(run(version, "NOTSET", 7), {1, 10, 102, 20, 203, 30, 300});
    expect_values(run(version, "NOTSET", 6, 1), {10, 102, 20, 203, 30, 300});  // of 8 with a zero behind: one element on either side
    expect_values(run(version, "NOTSET", 7, 1), {10, 102, 20, 203, 30, 300, 0});
  }
}

TEST(ConvTranspose, AnOutputShapeHasItsOwnPaddingInEveryDimension) {
  // Rows and columns of ones, so that an element is the product of how many taps it has along each: 1 2 2 1 along five.
  const RefTensor x = floats({1, 1, 3, 3}, std::vector<double>(9, 1.0)), w = floats({1, 1, 2, 2}, std::vector<double>(4, 1.0));
  const RefTensor y = run_one({"ConvTranspose", 11, {{"output_shape", Ints{3, 2}}}}, {&x, &w});
  EXPECT_EQ(y.shape, (Shape{1, 1, 3, 2}));
  expect_values(y, {4, 4, 4, 4, 2, 2});
  const RefTensor dilated = run_one({"ConvTranspose", 11, {{"dilations", Ints{2, 1}}, {"output_shape", Ints{4, 4}}}}, {&x, &w});
  expect_values(dilated, {1, 2, 2, 1, 2, 4, 4, 2, 1, 2, 2, 1, 1, 2, 2, 1});
  const RefTensor x3 = floats({1, 1, 1, 1, 3}, {1, 2, 3}), w3 = floats({1, 1, 1, 1, 3}, {1, 10, 100});
  expect_values(run_one({"ConvTranspose", 11, {{"strides", Ints{1, 1, 2}}, {"output_shape", Ints{1, 1, 6}}}}, {&x3, &w3}), {10, 102, 20, 203, 30, 300});
  // Two groups of one channel each.
  const RefTensor x2 = floats({1, 2, 3}, {1, 2, 3, 4, 5, 6}), w2 = floats({2, 1, 3}, {1, 10, 100, 2, 20, 200});
  expect_values(run_one({"ConvTranspose", 11, {{"group", int64_t{2}}, {"strides", Ints{2}}, {"output_shape", Ints{4}}}}, {&x2, &w2}),
                {102, 20, 203, 30, 810, 100, 1012, 120});
}

TEST(ConvTranspose, IsTheAdjointOfConv) {
  // <conv(x), y> = <x, conv_transpose(y)> for the same weight, grouped, strided and padded.
  const RefTensor x = random_floats({2, 4, 7, 7}, 1), w = random_floats({6, 2, 3, 3}, 2);
  const std::map<std::string, Attribute> attributes{{"group", int64_t{2}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}};
  const RefTensor cx = run_one({"Conv", 11, attributes}, {&x, &w});
  const RefTensor y = random_floats(cx.shape, 3);
  const RefTensor ty = run_one({"ConvTranspose", 11, attributes}, {&y, &w});
  ASSERT_EQ(ty.shape, x.shape);
  double left = 0, right = 0;
  for (size_t i = 0; i < y.value.size(); ++i) left += cx.value[i] * y.value[i];
  for (size_t i = 0; i < x.value.size(); ++i) right += x.value[i] * ty.value[i];
  EXPECT_NEAR(left, right, 1e-12);
}

TEST(MaxPool, PadsWithNothingAndReportsIndices) {
  const RefTensor x = floats({1, 1, 2, 3}, {-1, -2, -3, -4, -5, -6});
  const auto y = run_op({"MaxPool", 12, {{"kernel_shape", Ints{2, 2}}, {"pads", Ints{1, 1, 0, 0}}}, 2}, {&x});
  expect_values(y[0], {-1, -1, -2, -1, -1, -2});
  EXPECT_EQ(y[1].ints, (Ints{0, 0, 1, 0, 0, 1}));
}

TEST(MaxPool, CeilModeDropsWindowsThatStartInThePadding) {
  const RefTensor x = floats({1, 1, 4}, {1, 2, 3, 4});
  expect_values(run_one({"MaxPool", 12, {{"kernel_shape", Ints{3}}, {"strides", Ints{2}}, {"ceil_mode", int64_t{1}}}}, {&x}), {3, 4});
  expect_values(run_one({"MaxPool", 12, {{"kernel_shape", Ints{1}}, {"strides", Ints{3}}, {"pads", Ints{0, 2}}, {"ceil_mode", int64_t{1}}}}, {&x}), {1, 4});
  expect_values(run_one({"MaxPool", 12, {{"kernel_shape", Ints{2}}, {"dilations", Ints{2}}}}, {&x}), {3, 4});
}

TEST(AveragePool, PaddingCountsOnlyWhenAsked) {
  const RefTensor x = floats({1, 1, 3}, {2, 4, 6});
  const Ints pads{1, 1}, kernel{2};
  expect_values(run_one({"AveragePool", 11, {{"kernel_shape", kernel}, {"pads", pads}}}, {&x}), {2, 3, 5, 6});
  expect_values(run_one({"AveragePool", 11, {{"kernel_shape", kernel}, {"pads", pads}, {"count_include_pad", int64_t{1}}}}, {&x}), {1, 3, 5, 3});
}

// Values of ONNX Runtime 1.32, but for the first, which is ONNX's own case averagepool_2d_ceil in one dimension.
TEST(AveragePool, CeilModeAndPaddingTogether) {
  const RefTensor x = floats({1, 1, 4}, {1, 2, 3, 4});
  const auto run = [&](std::map<std::string, Attribute> attributes) {
    attributes["ceil_mode"] = int64_t{1};
    return run_one({"AveragePool", 19, std::move(attributes)}, {&x});
  };
  expect_values(run({{"kernel_shape", Ints{3}}, {"strides", Ints{2}}}), {2, 3.5});
  expect_values(run({{"kernel_shape", Ints{3}}, {"strides", Ints{2}}, {"pads", Ints{1, 0}}, {"count_include_pad", int64_t{1}}}), {1, 3});
  expect_values(run({{"kernel_shape", Ints{3}}, {"strides", Ints{3}}, {"pads", Ints{1, 1}}, {"count_include_pad", int64_t{1}}}), {1, 7.0 / 3});
  expect_values(run({{"kernel_shape", Ints{2}}, {"strides", Ints{2}}, {"pads", Ints{1, 0}}, {"count_include_pad", int64_t{1}}}), {0.5, 2.5, 4});
}

TEST(AveragePool, GlobalBoundCoversAnHonestLoop) {
  const RefTensor x = random_floats({1, 32, 20, 20}, 1, 0, 1);
  std::vector<float> y;
  for (size_t c = 0; c < 32; ++c) {
    float sum = 0;
    for (size_t i = 0; i < 400; ++i) sum += static_cast<float>(x.value[c * 400 + i]);
    y.push_back(sum / 400);
  }
  const RefTensor out = run_one({"GlobalAveragePool"}, {&x});
  EXPECT_EQ(out.shape, (Shape{1, 32, 1, 1}));
  expect_honest(out, y);
}

TEST(LpPool, IsTheNormOfTheWindow) {
  const RefTensor x = floats({1, 1, 4}, {3, -4, 5, 12});
  expect_values(run_one({"LpPool", 11, {{"kernel_shape", Ints{2}}, {"strides", Ints{2}}}}, {&x}), {5, 13});
  expect_values(run_one({"GlobalLpPool", 2, {{"p", int64_t{1}}}}, {&x}), {24});
}

}  // namespace
}  // namespace amdahl::test
