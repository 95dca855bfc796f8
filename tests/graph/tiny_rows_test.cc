// Rows of tiny numbers: what an honest order of arithmetic loses there, and what it does not. Denormal numbers are numbers, and sums of them are exact; what underflows in
// a product, a quotient or a square may be lost.

#include <cmath>

#include "tests/graph/op_fixture.h"

namespace amdahl {
namespace {

using namespace test;

const std::map<std::string, Attribute> kAlong{{"axes", std::vector<int64_t>{1}}};

RefTensor row(double v, int64_t n = 100) { return floats({1, n}, std::vector<double>(static_cast<size_t>(n), v)); }

TEST(TinyRows, SumsOfDenormalsAreNotZero) {
  const RefTensor x = row(0x1.8p-133);
  for (const char* op : {"ReduceSum", "ReduceMean", "ReduceL1"}) {
    const RefTensor y = run_one({op, op == std::string("ReduceSum") ? 11 : 13, kAlong}, {&x});
    EXPECT_LT(y.bound[0], y.value[0] / 10) << op;
  }
}

// Divided before they are summed, or after.
TEST(TinyRows, MeansMayUnderflowTermByTerm) {
  RefTensor x = random_floats({1, 100}, 5, 0, 1);
  for (double& v : x.value) v = static_cast<float>(v * 0x1p-130);
  float divided_first = 0, divided_last = 0;
  for (double v : x.value) divided_first += static_cast<float>(v) / 100, divided_last += static_cast<float>(v);
  const RefTensor y = run_one({"ReduceMean", 13, kAlong}, {&x});
  EXPECT_LE(std::fabs(divided_first - y.value[0]), y.bound[0]);
  EXPECT_LE(std::fabs(divided_last / 100 - y.value[0]), y.bound[0]);
}

// A plain sum of squares is honest, and has none of numbers below 1e-23; of those that have squares it is right.
TEST(TinyRows, NormsMayLoseSquaresThatUnderflow) {
  for (double v : {1e-25, 1e-38, 0x1p-140}) {
    const RefTensor x = row(v), y = run_one({"ReduceL2", 13, kAlong}, {&x});
    EXPECT_LE(y.value[0], y.bound[0]) << v;
  }
  const RefTensor x = row(1e-18), y = run_one({"ReduceL2", 13, kAlong}, {&x});
  EXPECT_LT(y.bound[0], y.value[0] / 1000);
}

TEST(TinyRows, ResponsesMayLoseSquaresThatUnderflow) {
  RefTensor x = floats({1, 4, 1, 1}, {1e-22, 2e-22, -1e-22, 3e-22});
  const RefTensor y = run_one({"LRN", 13, {{"size", int64_t{4}}, {"alpha", 0.5}, {"bias", 1e-45}}}, {&x});
  float squares = 0;
  for (int i = 0; i < 3; ++i) squares += static_cast<float>(x.value[static_cast<size_t>(i)]) * static_cast<float>(x.value[static_cast<size_t>(i)]);
  EXPECT_LE(std::fabs(x.value[0] / std::pow(1e-45f + 0.125f * squares, 0.75) - y.value[0]), y.bound[0]);
}

TEST(TinyRows, ProductsOfDoublesUnderflowInTheOracleToo) {
  RefTensor a = row(1e-200, 4), b = floats({4, 1}, {1e-200, 1e-200, 1e-200, 1e-200}), zero = floats({4, 1}, {0, 0, 0, 0});
  a.dtype = b.dtype = DType::kF64;
  EXPECT_GT(run_one({"MatMul", 13}, {&a, &b}).bound[0], 0);
  const RefTensor narrow = row(1, 4);
  EXPECT_EQ(run_one({"MatMul", 13}, {&narrow, &zero}).bound[0], 0);
}

TEST(TinyRows, AHiddenRowHasItsLimit) {
  const RefTensor x = row(-kInf), y = run_one({"ReduceLogSumExp", 13, kAlong}, {&x});
  EXPECT_EQ(y.value[0], -kInf);
  EXPECT_EQ(y.bound[0], 0);
  EXPECT_TRUE(std::isnan(run_one({"Softmax", 13}, {&x}).value[0]));
}

}  // namespace
}  // namespace amdahl
