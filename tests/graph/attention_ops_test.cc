#include "tests/graph/op_fixture.h"

namespace amdahl::test {
namespace {

using Ints = std::vector<int64_t>;

// Attention spelled out with MatMul and Softmax for one [batch, heads, positions, head] triple.
RefTensor spelled_out(RefTensor q, const RefTensor& k, const RefTensor& v, bool causal) {
  const int64_t d = q.shape[3], keys = k.shape[2];
  for (double& x : q.value) x /= std::sqrt(static_cast<double>(d));
  RefTensor kt = floats({k.shape[0], k.shape[1], d, keys}, std::vector<double>(k.value.size()));
  for (int64_t b = 0; b < k.shape[0] * k.shape[1]; ++b)
    for (int64_t i = 0; i < keys; ++i)
      for (int64_t j = 0; j < d; ++j) kt.value[static_cast<size_t>((b * d + j) * keys + i)] = k.value[static_cast<size_t>((b * keys + i) * d + j)];
  RefTensor scores = run_one({"MatMul"}, {&q, &kt}, false);
  for (size_t i = 0; i < scores.value.size() && causal; ++i) {
    const auto column = static_cast<int64_t>(i) % keys, row = static_cast<int64_t>(i) / keys % q.shape[2];
    if (column > row) scores.value[i] = -std::numeric_limits<double>::infinity();
  }
  const RefTensor weights = run_one({"Softmax", 13}, {&scores}, false);
  return run_one({"MatMul"}, {&weights, &v}, false);
}

TEST(Attention, IsSoftmaxOfScoresTimesValues) {
  const RefTensor q = random_floats({2, 3, 5, 8}, 1), k = random_floats({2, 3, 7, 8}, 2), v = random_floats({2, 3, 7, 4}, 3);
  expect_values(run_one({"Attention", 23}, {&q, &k, &v}), spelled_out(q, k, v, false).value);
}

TEST(Attention, CausalMaskIsAlsoABooleanMask) {
  const RefTensor q = random_floats({1, 2, 4, 8}, 1), k = random_floats({1, 2, 4, 8}, 2), v = random_floats({1, 2, 4, 8}, 3);
  const RefTensor expected = spelled_out(q, k, v, true);
  expect_values(run_one({"Attention", 23, {{"is_causal", int64_t{1}}}}, {&q, &k, &v}), expected.value);
  RefTensor mask = ints({4, 4}, {1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1});
  mask.dtype = DType::kBool;
  expect_values(run_one({"Attention", 23}, {&q, &k, &v, &mask}), expected.value);
  RefTensor added = floats({1, 1, 4, 4}, std::vector<double>(16));
  for (size_t i = 0; i < 16; ++i) added.value[i] = mask.ints[i] ? 0 : -1e30;
  expect_values(run_one({"Attention", 23}, {&q, &k, &v, &added}), expected.value);
}

TEST(Attention, AQueryThatSeesNothingGivesZeros) {
  const RefTensor q = random_floats({1, 1, 2, 4}, 1);
  RefTensor mask = ints({2, 2}, {0, 0, 1, 0});
  mask.dtype = DType::kBool;
  const RefTensor y = run_one({"Attention", 23}, {&q, &q, &q, &mask});
  expect_values(y, {0, 0, 0, 0, q.value[0], q.value[1], q.value[2], q.value[3]});
}

TEST(Attention, GroupedHeadsShareKeysAndRowsMayHoldTheHeads) {
  const RefTensor q = random_floats({1, 4, 3, 2}, 1), k = random_floats({1, 2, 3, 2}, 2), v = random_floats({1, 2, 3, 2}, 3);
  const RefTensor y = run_one({"Attention", 23}, {&q, &k, &v});
  const auto inside = [](const RefTensor& x) {  // [1, heads, 3, 2] -> [1, 3, heads * 2]
    const int64_t heads = x.shape[1];
    RefTensor t = floats({1, 3, heads * 2}, std::vector<double>(x.value.size()));
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t p = 0; p < 3; ++p)
        for (int64_t i = 0; i < 2; ++i) t.value[static_cast<size_t>((p * heads + h) * 2 + i)] = x.value[static_cast<size_t>((h * 3 + p) * 2 + i)];
    return t;
  };
  const RefTensor qi = inside(q), ki = inside(k), vi = inside(v);
  const RefTensor z = run_one({"Attention", 23, {{"q_num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}}}, {&qi, &ki, &vi});
  EXPECT_EQ(z.shape, (Shape{1, 3, 8}));
  expect_values(z, inside(y).value);
  const RefTensor q3 = floats({1, 1, 3, 2}, {q.value.begin() + 18, q.value.end()}), k1 = floats({1, 1, 3, 2}, {k.value.begin() + 6, k.value.end()}),
                  v1 = floats({1, 1, 3, 2}, {v.value.begin() + 6, v.value.end()});
  const RefTensor last = spelled_out(q3, k1, v1, false);
  expect_values(floats({6}, {y.value.end() - 6, y.value.end()}), last.value);
}

TEST(Attention, BoundCoversAnHonestLoop) {
  const int64_t n = 32, d = 16;
  const RefTensor q = random_floats({1, 1, n, d}, 1, -3, 3), k = random_floats({1, 1, n, d}, 2, -3, 3), v = random_floats({1, 1, n, d}, 3);
  const auto a = as_float(q), b = as_float(k), w = as_float(v);
  std::vector<float> y;
  for (int64_t i = 0; i < n; ++i) {
    std::vector<float> s;
    float m = -1e30f, sum = 0;
    for (int64_t j = 0; j < n; ++j) {
      float dot = 0;
      for (int64_t l = 0; l < d; ++l) dot += a[static_cast<size_t>(i * d + l)] * b[static_cast<size_t>(j * d + l)];
      s.push_back(dot * 0.25f);
      m = std::max(m, s.back());
    }
    for (float& x : s) sum += x = std::exp(x - m);
    for (int64_t l = 0; l < d; ++l) {
      float dot = 0;
      for (int64_t j = 0; j < n; ++j) dot += s[static_cast<size_t>(j)] / sum * w[static_cast<size_t>(j * d + l)];
      y.push_back(dot);
    }
  }
  const RefTensor out = run_one({"Attention", 23}, {&q, &k, &v});
  EXPECT_LE(worst_ratio(out, y), 1.0);
  EXPECT_GE(worst_ratio(out, y), 1.0 / 200);  // two products and a softmax in a row: worst cases do not meet
}

TEST(RotaryEmbedding, TurnsPairsByTheAngleOfTheirPosition) {
  const RefTensor x = floats({1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const RefTensor cos = floats({1, 2, 2}, {1, 0, 0, 0.5}), sin = floats({1, 2, 2}, {0, 1, 1, 2});
  expect_values(run_one({"RotaryEmbedding", 23}, {&x, &cos, &sin}), {1, -4, 3, 2, -7, -13, 5, 16});
  expect_values(run_one({"RotaryEmbedding", 23, {{"interleaved", int64_t{1}}}}, {&x, &cos, &sin}), {1, 2, -4, 3, -6, 5, -12.5, 18});
}

TEST(RotaryEmbedding, LooksPositionsUpAndLeavesTheRestOfTheHead) {
  const RefTensor x = floats({1, 1, 2, 3}, {1, 2, 9, 3, 4, 9});
  const RefTensor cos = floats({3, 1}, {1, 0, -1}), sin = floats({3, 1}, {0, 1, 0}), ids = ints({1, 2}, {2, 1}), offset = ints({1}, {1});
  const std::map<std::string, Attribute> attributes{{"rotary_embedding_dim", int64_t{2}}, {"num_heads", int64_t{1}}};
  expect_values(run_one({"RotaryEmbedding", 23, attributes}, {&x, &cos, &sin, &ids}), {-1, -2, 9, -4, 3, 9});
  expect_values(run_one({"RotaryEmbedding", 1, attributes, 1, "com.microsoft"}, {&x, &ids, &cos, &sin}), {-1, -2, 9, -4, 3, 9});
  expect_values(run_one({"RotaryEmbedding", 1, attributes, 1, "com.microsoft"}, {&x, &offset, &cos, &sin}), {-2, 1, 9, -3, -4, 9});
}

TEST(SoftmaxCrossEntropyLoss, ReducesAndIgnores) {
  const RefTensor x = floats({3, 2}, {0, 0, 0, std::log(3.0), 5, 5}), labels = ints({3}, {0, 1, 0});
  const double a = std::log(2.0), b = std::log(4.0 / 3.0);
  const auto loss = [&](std::map<std::string, Attribute> attributes) { return run_one({"SoftmaxCrossEntropyLoss", 13, std::move(attributes)}, {&x, &labels}); };
  expect_values(loss({{"reduction", std::string("none")}}), {a, b, a});
  expect_values(loss({{"reduction", std::string("sum")}}), {2 * a + b});
  expect_values(loss({}), {(2 * a + b) / 3});
  expect_values(loss({{"ignore_index", int64_t{0}}}), {b});
  const RefTensor weights = floats({2}, {1, 3});
  expect_values(run_one({"SoftmaxCrossEntropyLoss", 13}, {&x, &labels, &weights}), {(2 * a + 3 * b) / 5});
}

TEST(SoftmaxCrossEntropyLoss, EqualsNegativeLogLikelihoodOfItsLogProbabilities) {
  const RefTensor x = random_floats({2, 5, 3}, 1, -2, 2), labels = ints({2, 3}, {0, 4, 2, 1, 1, 3});
  const auto y = run_op({"SoftmaxCrossEntropyLoss", 13, {}, 2}, {&x, &labels});
  RefTensor log_p = y[1];
  expect_values(run_one({"NegativeLogLikelihoodLoss", 13}, {&log_p, &labels}), {y[0].value[0]});
}

TEST(SoftmaxCrossEntropyLoss, BoundCoversAnHonestLoop) {
  const RefTensor x = random_floats({16, 1000}, 1, -5, 5);
  RefTensor labels = ints({16}, {});
  std::vector<float> losses;
  for (size_t r = 0; r < 16; ++r) {
    labels.ints.push_back(static_cast<int64_t>(r * 37));
    float sum = 0;
    for (size_t i = 0; i < 1000; ++i) sum += std::exp(static_cast<float>(x.value[r * 1000 + i]) - 5);
    losses.push_back(5 + std::log(sum) - static_cast<float>(x.value[r * 1000 + r * 37]));
  }
  EXPECT_LE(worst_ratio(run_one({"SoftmaxCrossEntropyLoss", 13, {{"reduction", std::string("none")}}}, {&x, &labels}), losses), 1.0);
}

TEST(BatchNormalization, UsesTheStoredStatistics) {
  const RefTensor x = floats({1, 2, 2}, {1, 2, 3, 4}), gamma = floats({2}, {2, 3}), beta = floats({2}, {10, 20}), mean = floats({2}, {1, 3}),
                  var = floats({2}, {4, 1});
  const std::vector<const RefTensor*> in{&x, &gamma, &beta, &mean, &var};
  expect_values(run_one({"BatchNormalization", 15, {{"epsilon", 0.0}}}, in), {10, 11, 20, 23});
  EXPECT_THROW(run_op({"BatchNormalization", 9, {}, 5}, in), Refusal);
}

TEST(BatchNormalization, BoundPermitsFolding) {
  const RefTensor x = random_floats({4, 8, 16}, 1), gamma = random_floats({8}, 2, 0.5, 1.5), beta = random_floats({8}, 3), mean = random_floats({8}, 4),
                  var = random_floats({8}, 5, 0.1, 2);
  std::vector<float> folded;
  for (size_t i = 0; i < x.value.size(); ++i) {
    const size_t c = i / 16 % 8;
    const float a = static_cast<float>(gamma.value[c]) / std::sqrt(static_cast<float>(var.value[c]) + 1e-5f);
    const float b = static_cast<float>(beta.value[c]) - a * static_cast<float>(mean.value[c]);
    folded.push_back(static_cast<float>(x.value[i]) * a + b);
  }
  expect_honest(run_one({"BatchNormalization", 15}, {&x, &gamma, &beta, &mean, &var}), folded);
}

TEST(LpNormalization, DividesByTheNorm) {
  const RefTensor x = floats({2, 2}, {3, 4, 0, 0});
  expect_values(run_one({"LpNormalization", 1}, {&x}), {0.6, 0.8, 0, 0});
  expect_values(run_one({"LpNormalization", 1, {{"p", int64_t{1}}, {"axis", int64_t{0}}}}, {&x}), {1, 1, 0, 0});
}

TEST(MeanVarianceNormalization, DefaultAxesLeaveTheChannels) {
  const RefTensor x = floats({2, 2, 1, 1}, {1, 10, 3, 30});
  expect_values(run_one({"MeanVarianceNormalization", 13}, {&x}), {-1, -1, 1, 1}, 1e-8);
}

TEST(LRN, DividesByNeighbouringChannels) {
  const RefTensor x = floats({1, 4, 1}, {1, 2, 3, 4});
  const OpRun run{"LRN", 13, {{"size", int64_t{2}}, {"alpha", 2.0}, {"beta", 1.0}, {"bias", 1.0}}};
  expect_values(run_one(run, {&x}), {1.0 / 6, 2.0 / 14, 3.0 / 26, 4.0 / 17});
}

}  // namespace
}  // namespace amdahl::test
