// Sums one after the other in fp32 whose roundings are not independent: honest, and further off than the root of their number.
#include "graph/ops/sum_growth.h"

#include <cmath>

#include "base/random.h"
#include "graph/op.h"
#include "tests/graph/op_fixture.h"

namespace amdahl {
namespace {

using namespace test;

float sum_in_sequence(const std::vector<float>& terms) {
  float sum = 0;
  for (float t : terms) sum += t;
  return sum;
}

TEST(SumGrowth, IsThatOfGroupsOfEqualTerms) {
  EXPECT_DOUBLE_EQ(sum_growth(std::vector<double>{1, 2, 3, 4}, kU32), 6);
  EXPECT_DOUBLE_EQ(sum_growth(std::vector<double>(100, 0.1), kU32), 100);
  EXPECT_DOUBLE_EQ(sum_growth(std::vector<double>(100, 0.0), kU32), 30);  // to add nothing rounds nothing
  std::vector<double> pairs;
  for (int i = 0; i < 800; ++i) pairs.push_back(1.0 + i / 2);
  EXPECT_DOUBLE_EQ(sum_growth(pairs, kU32), 3 * std::sqrt(1600));
  EXPECT_DOUBLE_EQ(sum_growth(std::vector<double>{1, 1 + 1e-12, 1 + 2e-12, 1 + 3e-12}, kU32), 6);  // never below
  EXPECT_DOUBLE_EQ(sum_growth(std::vector<double>(16, 1 + 1e-12), kU32), 16);                      // equal in fp32
}

// The oracle's bound holds for each sum, and three times the root of n would not for some.
TEST(SumGrowth, OfEqualTermsBoundsMeansInSequence) {
  const int n = 1000;
  Random random(1);
  int beyond_independent = 0;
  for (int draw = 0; draw < 200; ++draw) {
    const auto term = static_cast<float>(0.5 + random.uniform());
    const RefTensor x = floats({1, n}, std::vector<double>(n, term));
    const RefTensor sum = run_one({"ReduceSum", 11, {{"axes", std::vector<int64_t>{1}}}}, {&x});
    const double error = std::fabs(sum_in_sequence(std::vector<float>(n, term)) - sum.value[0]);
    EXPECT_LE(error, sum.bound[0]) << term;
    beyond_independent += error > (3 * std::sqrt(n) + 4) * kU32 * sum.value[0];
  }
  EXPECT_GT(beyond_independent, 10);
}

TEST(SumGrowth, OfExponentialsOfOneHighNumberAmongEqualOnes) {
  const int n = 257;
  Random random(2);
  int beyond_independent = 0;
  for (int draw = 0; draw < 400; ++draw) {
    const auto high = static_cast<float>(3 * random.uniform());
    std::vector<double> row(n, 0);
    row[100] = high;
    const RefTensor x = floats({1, n}, row), y = run_one({"Softmax", 13}, {&x});
    std::vector<float> terms;
    for (double v : row) terms.push_back(std::exp(static_cast<float>(v) - high));
    const float sum = sum_in_sequence(terms);
    for (size_t i : {size_t{0}, size_t{100}}) {
      const double error = std::fabs(terms[i] / sum - y.value[i]);
      EXPECT_LE(error, y.bound[i]) << high;
      beyond_independent += error > (3 * std::sqrt(n) + 10 + high) * kU32 * y.value[i];
    }
  }
  EXPECT_GT(beyond_independent, 0);
}

// What a stranger's control met on heavy-tailed draws: the largest comes first, and each of the others is below half a last place of it.
TEST(SumGrowth, OfTermsThatAreLostEachTime) {
  const int n = 257;
  Random random(4);
  int beyond_independent = 0;
  for (int draw = 0; draw < 50; ++draw) {
    std::vector<double> row(n);
    for (double& v : row) v = static_cast<float>(-17 + 0.3 * random.uniform());
    row[0] = 0;
    const RefTensor x = floats({1, n}, row), y = run_one({"Softmax", 13}, {&x});
    float sum = 0;
    for (double v : row) sum += std::exp(static_cast<float>(v));
    const double error = std::fabs(1 / sum - y.value[0]);
    EXPECT_LE(error, y.bound[0]);
    beyond_independent += error > (3 * std::sqrt(n) + 10) * kU32 * y.value[0];
  }
  EXPECT_GT(beyond_independent, 25);
}

TEST(SumGrowth, OfProductsOfOneNumberWithAnother) {
  const int k = 2000;
  Random random(3);
  int beyond_independent = 0;
  for (int draw = 0; draw < 100; ++draw) {
    const auto a = static_cast<float>(0.5 + random.uniform()), b = static_cast<float>(0.5 + random.uniform());
    const RefTensor x = floats({1, k}, std::vector<double>(k, a)), w = floats({k, 1}, std::vector<double>(k, b));
    const RefTensor y = run_one({"MatMul", 13}, {&x, &w});
    float sum = 0;
    for (int i = 0; i < k; ++i) sum = std::fma(a, b, sum);
    const double error = std::fabs(sum - y.value[0]);
    EXPECT_LE(error, y.bound[0]) << a << " * " << b;
    beyond_independent += error > (3 * std::sqrt(k) + 4) * kU32 * y.value[0];
  }
  EXPECT_GT(beyond_independent, 5);
}

}  // namespace
}  // namespace amdahl
