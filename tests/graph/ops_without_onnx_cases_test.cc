// Operators that the ONNX project's cases do not reach here and that no other test holds: values worked out by hand from
// their definitions.

#include <gtest/gtest.h>

#include "tests/graph/op_fixture.h"

namespace amdahl {
namespace {

using namespace test;

void expect_near(const RefTensor& got, const std::vector<double>& want) {
  ASSERT_EQ(got.value.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got.value[i], want[i], 1e-6 * (1 + std::fabs(want[i]))) << "element " << i;
}

RefTensor bools(Shape shape, std::vector<int64_t> values) {
  RefTensor t = ints(std::move(shape), std::move(values));
  t.dtype = DType::kBool;
  return t;
}

TEST(OpsWithoutOnnxCases, Bitwise) {
  const RefTensor a = ints({4}, {12, 5, -1, 0}), b = ints({4}, {10, 3, 6, 9});
  EXPECT_EQ(run_one({"BitwiseAnd", 18}, {&a, &b}).ints, (std::vector<int64_t>{8, 1, 6, 0}));
  EXPECT_EQ(run_one({"BitwiseOr", 18}, {&a, &b}).ints, (std::vector<int64_t>{14, 7, -1, 9}));
  EXPECT_EQ(run_one({"BitwiseXor", 18}, {&a, &b}).ints, (std::vector<int64_t>{6, 6, -7, 9}));
  EXPECT_EQ(run_one({"BitwiseNot", 18}, {&a}).ints, (std::vector<int64_t>{-13, -6, 0, -1}));
}

TEST(OpsWithoutOnnxCases, Not) {
  const RefTensor a = bools({3}, {1, 0, 1});
  EXPECT_EQ(run_one({"Not", 1}, {&a}).ints, (std::vector<int64_t>{0, 1, 0}));
}

TEST(OpsWithoutOnnxCases, GlobalMaxPool) {
  const RefTensor x = floats({1, 2, 2, 2}, {1, -2, 3, 0, -5, -4, -7, -6});
  const RefTensor y = run_one({"GlobalMaxPool", 1}, {&x});
  EXPECT_EQ(y.shape, (Shape{1, 2, 1, 1}));
  expect_near(y, {3, -4});
}

TEST(OpsWithoutOnnxCases, GeluForms) {
  const RefTensor x = floats({3}, {-1, 0.5, 2}), bias = floats({3}, {0.5, -1, 1});
  std::vector<double> exact, fast, quick, biased;
  for (size_t i = 0; i < 3; ++i) {
    const double v = x.value[i], sum = v + bias.value[i];
    exact.push_back(0.5 * v * (1 + std::erf(v / std::sqrt(2.0))));
    fast.push_back(0.5 * v * (1 + std::tanh(0.7978845608028654 * (v + 0.044715 * v * v * v))));
    quick.push_back(v / (1 + std::exp(-1.702 * v)));
    biased.push_back(0.5 * sum * (1 + std::erf(sum / std::sqrt(2.0))));
  }
  const auto microsoft = [](const char* op) { return OpRun{op, 1, {}, 1, "com.microsoft"}; };
  expect_near(run_one(microsoft("Gelu"), {&x}), exact);
  expect_near(run_one(microsoft("FastGelu"), {&x}), fast);
  expect_near(run_one(microsoft("QuickGelu"), {&x}), quick);
  expect_near(run_one(microsoft("BiasGelu"), {&x, &bias}), biased);
}

// x / sqrt(mean(x^2) + epsilon) * scale
TEST(OpsWithoutOnnxCases, SimplifiedLayerNormalization) {
  const RefTensor x = floats({2, 2}, {3, 4, -1, 2}), scale = floats({2}, {2, 0.5});
  const double a = std::sqrt((9 + 16) / 2.0 + 1e-5), b = std::sqrt((1 + 4) / 2.0 + 1e-5);
  for (const char* domain : {"", "com.microsoft"}) {
    const OpRun run{"SimplifiedLayerNormalization", 1, {}, 1, domain};
    expect_near(run_one(run, {&x, &scale}), {2 * 3 / a, 0.5 * 4 / a, 2 * -1 / b, 0.5 * 2 / b});
  }
}

}  // namespace
}  // namespace amdahl
