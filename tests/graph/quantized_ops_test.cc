// Operators on quantized numbers, against loops over what the numbers stand for: x = (q - zero_point) * scale.

#include "tests/graph/one_node.h"
#include "tests/graph/op_fixture.h"

namespace amdahl {
namespace {

using namespace test;
using testing::OneNode;

using Bytes = std::vector<int64_t>;

RefTensor u8(Shape shape, Bytes values) {
  RefTensor t = ints(std::move(shape), std::move(values));
  t.dtype = DType::kU8;
  return t;
}
RefTensor i8(Shape shape, Bytes values) {
  RefTensor t = u8(std::move(shape), std::move(values));
  t.dtype = DType::kI8;
  return t;
}
RefTensor number(double x) { return floats({}, {x}); }

int64_t to_u8(double x, double scale, int64_t zero) { return std::clamp<int64_t>(static_cast<int64_t>(std::nearbyint(x / scale)) + zero, 0, 255); }

TEST(Quantized, HalvesGoToTheEvenNeighbourAndEndsSaturate) {
  OneNode node("", "QuantizeLinear");
  node.data(floats({6}, {0.5, 1.5, -0.5, 1000, -1000, 3})).known(number(1)).known(u8({}, {10}));
  EXPECT_EQ(node.output().ints, (Bytes{10, 12, 10, 255, 0, 13}));
}

TEST(Quantized, AScaleForEachPlaceAlongAnAxisOrEachBlock) {
  OneNode axis("", "DequantizeLinear");
  axis.data(u8({2, 2}, {1, 2, 3, 4})).known(floats({2}, {0.5, 2})).known(u8({2}, {1, 0})).set("axis", 0);
  expect_values(axis.output(), {0, 0.5, 6, 8});
  OneNode blocks("", "DequantizeLinear", 21);
  blocks.data(i8({1, 3}, {1, -2, 3})).known(floats({1, 2}, {0.5, 2})).set("axis", 1).set("block_size", 2);
  expect_values(blocks.output(), {0.5, -1, 6});
}

TEST(Quantized, OfZerosTheDynamicScaleIsOne) {
  const std::vector<RefTensor> y = OneNode("", "DynamicQuantizeLinear").data(floats({2}, {0, 0})).outputs(3);
  EXPECT_EQ(y[0].ints, (Bytes{0, 0}));
  expect_values(y[1], {1});
  const std::vector<RefTensor> z = OneNode("", "DynamicQuantizeLinear").data(floats({3}, {-1, 0, 3})).outputs(3);
  EXPECT_EQ(z[0].ints, (Bytes{0, 64, 255}));
  EXPECT_EQ(z[2].ints, Bytes{64});
}

// Filters with a scale each, a bias in the products' scale.
TEST(Quantized, QLinearConv) {
  const Bytes x = {10, 20, 30, 40, 50}, w = {1, -2, 3, 4}, bias = {100, -50};
  const std::vector<double> scales = {0.5, 0.25};
  OneNode node("", "QLinearConv");
  node.data(u8({1, 1, 5}, x)).known(number(0.125)).known(u8({}, {20})).known(i8({2, 1, 2}, w)).known(floats({2}, scales)).known(i8({2}, {0, 0}));
  RefTensor biases = ints({2}, bias);
  biases.dtype = DType::kI32;
  node.known(number(0.25)).known(u8({}, {128})).known(biases);
  Bytes expected;
  for (size_t c = 0; c < 2; ++c)
    for (size_t i = 0; i < 4; ++i) {
      double sum = static_cast<double>(bias[c]) * 0.125 * scales[c];
      for (size_t k = 0; k < 2; ++k) sum += 0.125 * static_cast<double>(x[i + k] - 20) * scales[c] * static_cast<double>(w[c * 2 + k]);
      expected.push_back(to_u8(sum, 0.25, 128));
    }
  EXPECT_EQ(node.output().ints, expected);
}

TEST(Quantized, IntegerProductsAreExact) {
  OneNode node("", "MatMulInteger");
  node.data(u8({1, 2}, {255, 3})).known(i8({2, 2}, {-128, 127, 5, -6})).known(u8({}, {1}));
  EXPECT_EQ(node.output().ints, (Bytes{254 * -128 + 2 * 5, 254 * 127 - 2 * 6}));
}

// A number that lies halfway between two integers may become either: what is computed from it may be as far off.
TEST(Quantized, WhatFloatsDecidedGoesOnThroughSumsAndProducts) {
  RefTensor a = ints({1, 2}, {4, 7}), b = ints({2, 2}, {3, -2, 5, 6});
  a.bound = {1, 0};
  EXPECT_EQ(run_one({"MatMul", 13}, {&a, &b}).bound, (std::vector<double>{3, 2}));
  EXPECT_EQ(run_one({"MatMul", 13}, {&b, &b}).bound, std::vector<double>{});
  const RefTensor one = ints({1, 2}, {1, 1});
  EXPECT_EQ(run_one({"Sub", 13}, {&a, &one}).bound, (std::vector<double>{1, 0}));
  RefTensor byte = u8({1, 2}, {4, 255});
  byte.bound = {1, 1};
  EXPECT_EQ(run_one({"Add", 14}, {&byte, &byte}).bound, (std::vector<double>{2, HUGE_VAL}));  // the second may wrap
}

// DynamicQuantizeMatMul sums its rows: what was lost here condemned kernels whose rounding fell on the other side.
TEST(Quantized, WhatFloatsDecidedGoesOnThroughReductions) {
  RefTensor x = ints({2, 2}, {4, 7, 1, 2});
  x.bound = {1, 2, 0, 0};
  const RefTensor rows = ints({1}, {1});
  const auto bound_of = [&](const char* op) { return run_one({op, 18}, {&x, &rows}).bound; };
  EXPECT_EQ(bound_of("ReduceSum"), (std::vector<double>{3, 0}));
  EXPECT_EQ(bound_of("ReduceMean"), (std::vector<double>{2, 0}));
  EXPECT_EQ(bound_of("ReduceMax"), (std::vector<double>{2, 0}));
  EXPECT_EQ(bound_of("ReduceProd"), (std::vector<double>{HUGE_VAL, 0}));
  x.bound.clear();
  EXPECT_EQ(bound_of("ReduceSum"), std::vector<double>{});
}

TEST(Quantized, WhatFloatsDecidedIsOpenWhereItWouldWrapOrChoosesAnother) {
  RefTensor x = ints({2}, {0, 5});
  x.bound = {1, 1};
  EXPECT_EQ(run_one({"Cast", 13, {{"to", int64_t{12}}}}, {&x}).bound, (std::vector<double>{HUGE_VAL, 1}));  // u32 has no -1
  const RefTensor data = floats({3, 1}, {1, 2, 3});
  RefTensor length = ints({1}, {2});
  length.bound = {1};
  EXPECT_EQ(run_one({"ReverseSequence", 10}, {&data, &length}).bound, std::vector<double>(3, HUGE_VAL));
  const RefTensor scores = floats({2, 2}, {1, 2, 3, 4});
  RefTensor labels = ints({2}, {0, 1});
  labels.bound = {0, 1};
  EXPECT_EQ(run_one({"NegativeLogLikelihoodLoss", 13, {{"reduction", std::string("none")}}}, {&scores, &labels}).bound, (std::vector<double>{0, HUGE_VAL}));
  EXPECT_EQ(run_one({"NegativeLogLikelihoodLoss", 13}, {&scores, &labels}).bound, std::vector<double>{HUGE_VAL});
}

// Two numbers of 4 bits a byte, the lower first, around 8 where no zero points are given.
TEST(Quantized, WeightsOfFewBits) {
  Bytes bytes(8, 0x88);
  bytes[0] = 0x9a;  // +2, +1, then zeros
  OneNode node("com.microsoft", "MatMulNBits");
  std::vector<double> x(16, 1.0);
  x[0] = 3;
  node.data(floats({1, 16}, x)).known(u8({1, 1, 8}, bytes)).known(floats({1}, {0.5}));
  node.set("N", 1).set("K", 16).set("bits", 4).set("block_size", 16);
  expect_values(node.output(), {0.5 * (2 * 3 + 1)});
}

std::string refusal_of(OneNode& node) {
  try {
    node.load(1);
    return "";
  } catch (const std::exception& e) {
    return e.what();
  }
}

// Sizes whose products do not fit 64 bits, from a file of a few bytes.
TEST(Quantized, WeightsThatNoMemoryHoldsAreRefused) {
  for (const auto& [n, k, block] : {std::tuple(int64_t{1} << 62, int64_t{16}, int64_t{16}), std::tuple(int64_t{1}, INT64_MAX, INT64_MAX),
                                    std::tuple(int64_t{1} << 40, int64_t{1} << 40, int64_t{16})}) {
    OneNode node("com.microsoft", "MatMulNBits");
    node.data(floats({1, 16}, std::vector<double>(16, 1.0))).known(u8({1, 1, 8}, Bytes(8, 0))).known(floats({1}, {0.5}));
    node.set("N", n).set("K", k).set("bits", 4).set("block_size", block);
    EXPECT_NE(refusal_of(node).find("is impossible or too large"), std::string::npos) << refusal_of(node);
  }
}

TEST(Quantized, TypesThatNothingHereHoldsAreRefused) {
  OneNode node("", "DequantizeLinear", 23);
  node.data(u8({2}, {1, 2})).known(floats({}, {0.5})).set("output_dtype", 17);
  EXPECT_NE(refusal_of(node).find("float8e4m3fn"), std::string::npos);
}

}  // namespace
}  // namespace amdahl
