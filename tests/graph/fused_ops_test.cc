// Operators of ONNX Runtime's own that are made of others, but for attentions: values by their definitions, and numbers of ONNX Runtime where said.

#include "tests/graph/one_node.h"
#include "tests/graph/op_fixture.h"

namespace amdahl {
namespace {

using namespace test;
using testing::OneNode;

OneNode microsoft(const char* op) { return {"com.microsoft", op}; }

RefTensor of(DType dtype, Shape shape, std::vector<int64_t> values) {
  RefTensor t = ints(std::move(shape), std::move(values));
  t.dtype = dtype;
  return t;
}

double element(const RefTensor& t, const std::vector<int64_t>& at) {
  int64_t flat = 0;
  for (size_t d = 0; d < at.size(); ++d) flat = flat * t.shape[d] + at[d];
  return t.value[static_cast<size_t>(flat)];
}

TEST(FusedProducts, MatMulTakesItsBatchesFromBetweenRowsAndColumns) {
  const RefTensor a = random_floats({3, 2, 4}, 1), b = random_floats({2, 5, 4}, 2);  // a: rows, batch, inner; b: batch, columns, inner
  std::vector<double> expected;
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t j = 0; j < 5; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < 4; ++k) sum += element(a, {i, n, k}) * element(b, {n, j, k});
        expected.push_back(0.5 * sum);
      }
  const RefTensor y = microsoft("FusedMatMul").data(a).data(b).set("transBatchA", 1).set("transB", 1).set("alpha", 0.5).output();
  EXPECT_EQ(y.shape, (Shape{2, 3, 5}));
  expect_values(y, expected);
}

TEST(FusedProducts, GemmEndsInItsActivation) {
  const RefTensor a = floats({1, 2}, {1, -2}), b = floats({2, 2}, {3, 1, 1, 2}), c = floats({2}, {0.5, 0.5});
  // [1, -3] + 0.5
  expect_values(microsoft("FusedGemm").data(a).data(b).data(c).set("activation", "Relu").output(), {1.5, 0});
  expect_values(microsoft("FusedGemm").data(a).data(b).data(c).set("activation", "LeakyRelu").set("activation_alpha", 0.5).output(), {1.5, -1.25});
  EXPECT_NE(microsoft("FusedGemm").data(a).data(b).set("activation", "Wave").refusal().find("the activation 'Wave'"), std::string::npos);
}

TEST(FusedProducts, ConvAddsBeforeItsActivation) {
  const RefTensor x = floats({1, 1, 3}, {1, 2, 3}), w = floats({1, 1, 2}, {1, -2}), b = floats({1}, {0.5}), z = floats({1, 1, 2}, {1, 4});
  OneNode node = microsoft("FusedConv");
  node.data(x).known(w).known(b).data(z).set("activation", "Clip");
  auto* parameters = node.node().add_attribute();
  parameters->set_name("activation_params"), parameters->set_type(onnx::AttributeProto::FLOATS);
  for (const float limit : {0.0f, 0.25f}) parameters->add_floats(limit);
  expect_values(node.output(), {0, 0.25});  // -3 + 0.5 + 1, -4 + 0.5 + 4
}

TEST(FusedNormalization, TheSumIsAnOutput) {
  const RefTensor x = floats({1, 2, 2}, {1, 2, 3, 5}), skip = floats({2, 2}, {0, 1, -1, 2}), gamma = floats({2}, {2, 1}), bias = floats({2}, {1, 1});
  const std::vector<double> sum = {2, 4, 3, 8};
  std::vector<double> layer, simplified;
  for (size_t r = 0; r < 4; r += 2) {
    const double mean = (sum[r] + sum[r + 1]) / 2, deviation = std::sqrt(std::pow((sum[r] - sum[r + 1]) / 2, 2) + 1e-3);
    const double root = std::sqrt((sum[r] * sum[r] + sum[r + 1] * sum[r + 1]) / 2 + 1e-3);
    for (size_t i = 0; i < 2; ++i) {
      layer.push_back((sum[r + i] - mean) / deviation * gamma.value[i]);
      simplified.push_back(sum[r + i] / root * gamma.value[i]);
    }
  }
  OneNode skip_layer = microsoft("SkipLayerNormalization"), skip_simplified = microsoft("SkipSimplifiedLayerNormalization");
  const auto four_outputs = [&](OneNode& node) {
    node.set("epsilon", 1e-3);
    for (const char* name : {"y", "", "", "sum"}) node.node().add_output(name);
  };
  four_outputs(skip_layer.data(x).data(skip).data(gamma).absent().data(bias));
  four_outputs(skip_simplified.data(x).data(skip).data(gamma).data(bias));
  expect_values(skip_layer.named_outputs({"y", "sum"})[0], layer, 1e-7);
  const std::vector<RefTensor> y = skip_simplified.named_outputs({"y", "sum"});
  expect_values(y[0], simplified, 1e-7);
  expect_values(y[1], sum);
}

TEST(FusedNormalization, AnEmbeddingIsASumOfRows) {
  const RefTensor words = floats({3, 2}, {0, 1, 2, 4, 8, 8}), places = floats({4, 2}, {1, 0, 0, 1, 5, 5, 5, 5}), segments = floats({2, 2}, {0, 0, 10, 20});
  OneNode node = microsoft("EmbedLayerNormalization");
  node.data(of(DType::kI32, {1, 2}, {2, 0})).data(of(DType::kI32, {1, 2}, {0, 1})).known(words).known(places).known(segments);
  node.known(floats({2}, {1, 1})).known(floats({2}, {0, 0})).data(of(DType::kI32, {1, 2}, {1, 0})).set("mask_index_type", 1);
  const std::vector<RefTensor> y = node.outputs(3);
  EXPECT_EQ(y[1].ints, std::vector<int64_t>{1});
  expect_values(y[2], {9, 8, 10, 22});
  expect_values(y[0], {1, -1, -1, 1}, 1e-9);
}

TEST(FusedPointwise, SumsWithABias) {
  const RefTensor x = floats({1, 2, 2}, {1, 2, 3, 4}), bias = floats({2}, {10, 20});
  expect_values(microsoft("BiasAdd").data(x).data(bias).data(x).output(), {12, 24, 16, 28});
  const auto gelu = [](double v) { return 0.5 * v * (1 + std::erf(v / std::sqrt(2.0))); };
  expect_values(microsoft("BiasSplitGelu").data(x).data(floats({2}, {0, -3})).output(), {gelu(-1), 3 * gelu(1)}, 1e-9);
  // Over both dimensions after the first.
  const double sum = std::exp(1) + std::exp(2) + std::exp(3) + std::exp(4);
  expect_values(microsoft("BiasSoftmax").data(x).data(floats({1, 2, 2}, {0, 0, 0, 0})).set("axis", 1).set("is_inner_broadcast", 0).output(),
                {std::exp(1) / sum, std::exp(2) / sum, std::exp(3) / sum, std::exp(4) / sum}, 1e-9);
}

TEST(FusedPointwise, OldFormsOfTheStandards) {
  EXPECT_EQ(microsoft("ExpandDims").data(floats({2, 3}, {1, 2, 3, 4, 5, 6})).known(of(DType::kI32, {}, {-1})).output().shape, (Shape{2, 3, 1}));
  expect_values(microsoft("Pad").data(floats({2}, {1, 2})).known(ints({1, 2}, {1, 1})).known(floats({1}, {7})).output(), {7, 1, 2, 7});
  EXPECT_EQ(microsoft("Range").known(ints({}, {2})).known(ints({}, {5})).output().ints, (std::vector<int64_t>{2, 3, 4}));
}

// Two numbers of 4 bits a byte, the lower first; without zero points they lie around 8.
TEST(GatherBlockQuantized, TakesRowsBeforeItMakesThemFloats) {
  std::vector<int64_t> bytes(16, 0x98);
  for (size_t i = 8; i < 16; ++i) bytes[i] = 0x07;
  OneNode node = microsoft("GatherBlockQuantized");
  node.known(of(DType::kU8, {2, 8}, bytes)).data(ints({3}, {1, 0, 1})).known(floats({2, 1}, {0.5, 2})).set("block_size", 16).set("quantize_axis", 1);
  const RefTensor y = node.output();
  EXPECT_EQ(y.shape, (Shape{3, 16}));
  for (int64_t i = 0; i < 16; ++i) {
    EXPECT_EQ(element(y, {1, i}), i % 2 == 0 ? 0 : 0.5);
    for (const int64_t row : {0, 2}) EXPECT_EQ(element(y, {row, i}), i % 2 == 0 ? -2 : -16);
  }
}

}  // namespace
}  // namespace amdahl
