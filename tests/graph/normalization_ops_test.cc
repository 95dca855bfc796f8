#include "tests/graph/op_fixture.h"

namespace amdahl::test {
namespace {

using Ints = std::vector<int64_t>;

std::vector<float> plain_softmax(const std::vector<float>& x, size_t n) {
  std::vector<float> y(x.size());
  for (size_t r = 0; r < x.size(); r += n) {
    float m = x[r], sum = 0;
    for (size_t i = 0; i < n; ++i) m = std::max(m, x[r + i]);
    for (size_t i = 0; i < n; ++i) sum += y[r + i] = std::exp(x[r + i] - m);
    for (size_t i = 0; i < n; ++i) y[r + i] /= sum;
  }
  return y;
}

TEST(Softmax, AxisMeansFlattenBefore13) {
  const RefTensor x = floats({1, 2, 2}, {0, std::log(2.0), std::log(3.0), std::log(4.0)});
  expect_values(run_one({"Softmax", 11}, {&x}), {0.1, 0.2, 0.3, 0.4});
  expect_values(run_one({"Softmax", 13}, {&x}), {1.0 / 3, 2.0 / 3, 3.0 / 7, 4.0 / 7});
  expect_values(run_one({"Softmax", 13, {{"axis", int64_t{1}}}}, {&x}), {0.25, 1.0 / 3, 0.75, 2.0 / 3});
}

TEST(Softmax, BoundCoversAnHonestLoop) {
  const RefTensor x = random_floats({16, 256}, 1, -8, 8);
  expect_honest(run_one({"Softmax", 13}, {&x}), plain_softmax(as_float(x), 256));
}

TEST(Softmax, MaskedElementsAreZeroAndKeepTheOthersBound) {
  const double infinity = std::numeric_limits<double>::infinity();
  RefTensor x = floats({1, 4}, {1, 2, -infinity, -3.4e38});
  x.bound = {1e-6, 1e-6, 0, 1e31};
  const RefTensor y = run_one({"Softmax", 13}, {&x});
  EXPECT_NEAR(y.value[1], 1 / (1 + std::exp(-1.0)), 1e-12);
  EXPECT_EQ(y.value[2], 0);
  EXPECT_LT(y.bound[1], 3e-6);
  EXPECT_LT(y.bound[2], 1e-37);
  EXPECT_LT(y.bound[3], 1e-37);
}

TEST(Softmax, BoundHoldsForInputsAtTheEdgeOfTheirs) {
  RefTensor x = random_floats({1, 12}, 7, -3, 3);
  for (double e : {1e-6, 1e-2, 0.5}) {
    x.bound.assign(12, e);
    const RefTensor y = run_one({"Softmax", 13}, {&x}), z = run_one({"LogSoftmax", 13}, {&x});
    RefTensor moved = x;
    for (size_t i = 0; i < 12; ++i) moved.value[i] += i == 3 ? e : -e;
    const RefTensor my = run_one({"Softmax", 13}, {&moved}), mz = run_one({"LogSoftmax", 13}, {&moved});
    for (size_t i = 0; i < 12; ++i) {
      EXPECT_LE(std::fabs(my.value[i] - y.value[i]), y.bound[i]);
      EXPECT_LE(std::fabs(mz.value[i] - z.value[i]), z.bound[i]);
    }
    EXPECT_GE(std::fabs(my.value[3] - y.value[3]), 0.3 * (y.bound[3] - 4e-6));
  }
}

TEST(LogSoftmax, IsTheLogarithm) {
  const RefTensor x = floats({1, 3}, {1000, 1001, 1002});
  const double s = std::log(std::exp(-2.0) + std::exp(-1.0) + 1);
  expect_values(run_one({"LogSoftmax", 13}, {&x}), {-2 - s, -1 - s, -s}, 1e-11);
}

TEST(Hardmax, MarksTheFirstMaximum) {
  const RefTensor x = floats({2, 3}, {1, 3, 3, 2, 1, 0});
  expect_values(run_one({"Hardmax", 13}, {&x}), {0, 1, 0, 1, 0, 0});
}

std::vector<float> plain_layer_norm(const RefTensor& x, const RefTensor& gamma, const RefTensor& beta, bool centred) {
  const size_t n = gamma.value.size();
  const std::vector<float> in = as_float(x);
  std::vector<float> y;
  for (size_t r = 0; r < in.size(); r += n) {
    float mean = 0, var = 0;
    for (size_t i = 0; i < n && centred; ++i) mean += in[r + i];
    mean /= static_cast<float>(n);
    for (size_t i = 0; i < n; ++i) var += (in[r + i] - mean) * (in[r + i] - mean);
    const float s = 1 / std::sqrt(var / static_cast<float>(n) + 1e-5f);
    for (size_t i = 0; i < n; ++i) y.push_back((in[r + i] - mean) * s * static_cast<float>(gamma.value[i]) + static_cast<float>(beta.value[i]));
  }
  return y;
}

TEST(LayerNormalization, NormalisesTheLastAxisAndGivesStatistics) {
  const RefTensor x = floats({2, 2}, {1, 3, -5, 5}), gamma = floats({2}, {1, 2}), beta = floats({2}, {0, 10});
  const auto y = run_op({"LayerNormalization", 17, {{"epsilon", 0.0}}, 3}, {&x, &gamma, &beta});
  expect_values(y[0], {-1, 12, -1, 12});
  EXPECT_EQ(y[1].shape, (Shape{2, 1}));
  expect_values(y[1], {2, 0});
  expect_values(y[2], {1, 0.2});
}

TEST(LayerNormalization, BoundCoversAnHonestLoop) {
  const RefTensor gamma = random_floats({768}, 2, 0.5, 1.5), beta = random_floats({768}, 3), zero = floats({768}, std::vector<double>(768, 0.0));
  const RefTensor x = random_floats({8, 768}, 1, -2, 3);
  expect_honest(run_one({"LayerNormalization", 17}, {&x, &gamma, &beta}), plain_layer_norm(x, gamma, beta, true));
  expect_honest(run_one({"RMSNormalization", 23}, {&x, &gamma}), plain_layer_norm(x, gamma, zero, false));
}

TEST(LayerNormalization, BoundRejectsOnePassVariance) {
  // Mean 1000, deviation 1: E[x^2] - E[x]^2 in fp32 has no digits left.
  const RefTensor x = random_floats({1, 256}, 1, 998, 1002);
  const RefTensor gamma = floats({256}, std::vector<double>(256, 1.0));
  const RefTensor y = run_one({"LayerNormalization", 17}, {&x, &gamma});
  float sum = 0, squares = 0;
  for (float v : as_float(x)) sum += v, squares += v * v;
  const float mean = sum / 256, s = 1 / std::sqrt(squares / 256 - mean * mean + 1e-5f);
  std::vector<float> one_pass;
  for (float v : as_float(x)) one_pass.push_back((v - mean) * s);
  EXPECT_GT(worst_ratio(y, one_pass), 1.0);
}

TEST(LayerNormalization, BoundHoldsForMovedInputs) {
  RefTensor x = random_floats({1, 16}, 5);
  const RefTensor gamma = random_floats({16}, 2, 0.5, 1.5);
  for (double e : {1e-5, 1e-1}) {
    x.bound.assign(16, e);
    const RefTensor y = run_one({"LayerNormalization", 17}, {&x, &gamma});
    Random random(3);
    for (int trial = 0; trial < 50; ++trial) {
      RefTensor moved = x;
      for (double& v : moved.value) v += random.below(2) ? e : -e;
      const RefTensor z = run_one({"LayerNormalization", 17}, {&moved, &gamma});
      for (size_t i = 0; i < 16; ++i) EXPECT_LE(std::fabs(z.value[i] - y.value[i]), y.bound[i]);
    }
  }
}

TEST(GroupNormalization, ParametersArePerGroupBefore21) {
  const RefTensor x = floats({1, 4, 2}, {0, 2, 0, 2, 0, 4, 0, 4});
  const RefTensor group_scale = floats({2}, {1, 10}), group_bias = floats({2}, {0, 100});
  const std::map<std::string, Attribute> attributes{{"num_groups", int64_t{2}}, {"epsilon", 0.0}};
  expect_values(run_one({"GroupNormalization", 18, attributes}, {&x, &group_scale, &group_bias}), {-1, 1, -1, 1, 90, 110, 90, 110});
  const RefTensor scale = floats({4}, {1, 2, 3, 4}), bias = floats({4}, {0, 10, 20, 30});
  expect_values(run_one({"GroupNormalization", 21, attributes}, {&x, &scale, &bias}), {-1, 1, 8, 12, 17, 23, 26, 34});
}

TEST(InstanceNormalization, NormalisesEachChannel) {
  const RefTensor x = floats({2, 2, 2}, {0, 2, 5, 9, 1, 3, 0, 8}), scale = floats({2}, {1, 2}), bias = floats({2}, {0, 1});
  expect_values(run_one({"InstanceNormalization", 6, {{"epsilon", 0.0}}}, {&x, &scale, &bias}), {-1, 1, -1, 3, -1, 1, -1, 3});
}

TEST(ReduceSum, AxesAreAnAttributeBefore13AndAnInputSince) {
  const RefTensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6}), axes = ints({1}, {-1}), none = ints({0}, {});
  const RefTensor old = run_one({"ReduceSum", 11, {{"axes", Ints{1}}, {"keepdims", int64_t{0}}}}, {&x});
  EXPECT_EQ(old.shape, (Shape{2}));
  expect_values(old, {6, 15});
  const RefTensor y = run_one({"ReduceSum", 13}, {&x, &axes});
  EXPECT_EQ(y.shape, (Shape{2, 1}));
  expect_values(y, {6, 15});
  expect_values(run_one({"ReduceSum", 13}, {&x, &none}), {21});
  expect_values(run_one({"ReduceSum", 13, {{"noop_with_empty_axes", int64_t{1}}}}, {&x, &none}), {1, 2, 3, 4, 5, 6});
}

// The text of noop_with_empty_axes in onnx 1.20 and later: "composite-reduction operators will still perform the non-reduction steps", as onnx.reference and ONNX
// Runtime compute it.
TEST(Reduce, OverNoAxesDoesWhatIsBesideTheSum) {
  const RefTensor x = floats({1, 3}, {1, -2, 4}), positive = floats({3}, {1, 2, 4}), none = ints({0}, {});
  for (int64_t keep : {0, 1})
    for (const RefTensor* axes : {&none, static_cast<const RefTensor*>(nullptr)}) {
      const auto run = [&](const char* op, const RefTensor& of) {
        return run_one({op, 18, {{"noop_with_empty_axes", int64_t{1}}, {"keepdims", keep}}}, {&of, axes});
      };
      for (const char* op : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceLogSumExp"}) expect_values(run(op, x), {1, -2, 4});
      expect_values(run("ReduceL1", x), {1, 2, 4});
      expect_values(run("ReduceL2", x), {1, 2, 4});
      expect_values(run("ReduceSumSquare", x), {1, 4, 16});
      expect_values(run("ReduceLogSum", positive), {0, std::log(2), std::log(4)});
      EXPECT_EQ(run("ReduceSumSquare", x).shape, x.shape);
    }
  // Without the attribute no axes are all axes, also where the attribute is and the axes are an old operator's.
  expect_values(run_one({"ReduceSumSquare", 18}, {&x, &none}), {21});
  expect_values(run_one({"ReduceSumSquare", 13}, {&x}), {21});
}

TEST(Reduce, IntegersWrapAsTheirTypeDoes) {
  RefTensor x = ints({2}, {2147483647, 1});
  x.dtype = DType::kI32;
  EXPECT_EQ(run_one({"ReduceSum", 13}, {&x}).ints, (std::vector<int64_t>{-2147483648}));
}

TEST(Reduce, UnsignedNumbersAboveTheSigned) {
  RefTensor x = ints({2}, {-1, 2});  // 2^64 - 1
  x.dtype = DType::kU64;
  EXPECT_EQ(run_one({"ReduceMax", 18}, {&x}).ints, (std::vector<int64_t>{-1}));
  EXPECT_EQ(run_one({"ReduceMin", 18}, {&x}).ints, (std::vector<int64_t>{2}));
}

// onnx.reference takes the largest by numpy's argmax.
TEST(Hardmax, NaNIsTheLargest) {
  const RefTensor x = floats({1, 3}, {1, std::nan(""), 2});
  expect_values(run_one({"Hardmax", 13}, {&x}), {0, 1, 0});
}

TEST(Reduce, EveryKindOfReduction) {
  const RefTensor x = floats({1, 3}, {1, -2, 4});
  const auto reduce = [&](const char* op) { return run_one({op, 13, {{"keepdims", int64_t{0}}}}, {&x}).value[0]; };
  EXPECT_EQ(reduce("ReduceMean"), 1);
  EXPECT_EQ(reduce("ReduceMax"), 4);
  EXPECT_EQ(reduce("ReduceMin"), -2);
  EXPECT_EQ(reduce("ReduceProd"), -8);
  EXPECT_EQ(reduce("ReduceL1"), 7);
  EXPECT_NEAR(reduce("ReduceL2"), std::sqrt(21.0), 1e-14);
  EXPECT_EQ(reduce("ReduceSumSquare"), 21);
  EXPECT_NEAR(reduce("ReduceLogSum"), std::log(3.0), 1e-14);
  EXPECT_NEAR(reduce("ReduceLogSumExp"), std::log(std::exp(1.0) + std::exp(-2.0) + std::exp(4.0)), 1e-14);
}

TEST(Reduce, MiddleAxesAndIntegers) {
  const RefTensor x = ints({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(run_one({"ReduceMax", 13, {{"axes", Ints{1}}}}, {&x}).ints, (Ints{3, 4, 7, 8}));
  EXPECT_EQ(run_one({"ReduceSum", 11, {{"axes", Ints{0, 2}}}}, {&x}).ints, (Ints{14, 22}));
}

TEST(Reduce, BoundCoversAnHonestLoop) {
  const RefTensor x = random_floats({32, 1000}, 1, -1, 2), axes = ints({1}, {1});
  std::vector<float> sums, norms, log_sums;
  for (size_t r = 0; r < 32; ++r) {
    float sum = 0, squares = 0, exps = 0;
    for (size_t i = 0; i < 1000; ++i) {
      const auto v = static_cast<float>(x.value[r * 1000 + i]);
      sum += v, squares += v * v, exps += std::exp(v - 2);
    }
    sums.push_back(sum), norms.push_back(std::sqrt(squares)), log_sums.push_back(2 + std::log(exps));
  }
  expect_honest(run_one({"ReduceSum", 13}, {&x, &axes}), sums);
  expect_honest(run_one({"ReduceL2", 18}, {&x, &axes}), norms);
  EXPECT_LE(worst_ratio(run_one({"ReduceLogSumExp", 18}, {&x, &axes}), log_sums), 1.0);
}

}  // namespace
}  // namespace amdahl::test
