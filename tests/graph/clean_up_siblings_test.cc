// Products of the same rows: which of them become one, and that what they compute stays.

#include <gtest/gtest.h>

#include <bit>

#include "base/hash.h"
#include "base/random.h"
#include "graph/clean_up/clean_up.h"
#include "graph/clean_up/clean_up_passes.h"
#include "graph/clean_up/fold.h"
#include "graph/onnx/onnx_load.h"
#include "tests/graph/model_maker.h"
#include "tests/graph/same_meaning.h"

namespace amdahl {
namespace {

using testing::ModelMaker;
using testing::set_float;
using testing::set_int;
using testing::set_ints;

constexpr int64_t kRows = 6, kInner = 5;

// A model whose products read "x", [2, 6, 5].
struct Layer : ModelMaker {
  explicit Layer(int opset = 17) : ModelMaker(opset) { input("x", {"2", "6", "5"}); }

  std::string weight(const std::string& name, const std::vector<int64_t>& dims) {
    std::vector<float> values(static_cast<size_t>(numel(dims)));
    Random random(hash64(name));
    for (float& v : values) v = static_cast<float>(random.normal());
    initializer(name, dims, values);
    return name;
  }
  // x W, with the bias on either side of the Add or without.
  std::string project(const std::string& name, int64_t columns, bool bias = false, const std::string& x = "x") {
    node("MatMul", {x, weight(name + ".weight", {kInner, columns})}, {name});
    if (!bias) return name;
    const std::string b = weight(name + ".bias", {columns});
    node("Add", columns % 4 == 0 ? std::vector<std::string>{b, name} : std::vector<std::string>{name, b}, {name + ".sum"});
    return name + ".sum";
  }
  // Heads of 2, [2, heads, 6, 2], in an output of their own.
  void go_on(const std::string& value, int64_t columns, const std::vector<int64_t>& perm = {0, 2, 1, 3}) {
    initializer_i64(value + ".shape", {2, kRows, columns / 2, 2});
    node("Reshape", {value, value + ".shape"}, {value + ".heads"});
    set_ints(node("Transpose", {value + ".heads"}, {value + ".moved"}), "perm", perm);
    node("Relu", {value + ".moved"}, {"y." + value});
    output("y." + value);
  }
};

struct Cleaned {
  Graph before, after;
  int count(const std::string& op) const {
    return static_cast<int>(std::count_if(after.nodes.begin(), after.nodes.end(), [&](const Node& n) { return n.op == op; }));
  }
  const Node& first(const std::string& op) const {
    return *std::find_if(after.nodes.begin(), after.nodes.end(), [&](const Node& n) { return n.op == op; });
  }
  const Value& input_of(const std::string& op, size_t i) const { return after.value(first(op).inputs[i]); }
};

Cleaned clean(const ModelMaker& m) {
  LoadOptions raw;
  raw.clean = false;
  Cleaned c{load_onnx_bytes(m.bytes(), "", raw), load_onnx_bytes(m.bytes(), "", {})};
  testing::expect_same_meaning(c.before, c.after, 1e-13);
  Graph again = c.after;
  clean_up(again);
  EXPECT_EQ(fingerprint(again), fingerprint(c.after));
  return c;
}

TEST(SiblingProducts, QueriesKeysAndValuesBecomeOne) {
  for (const int opset : {9, 12, 13, 18})
    for (const bool bias : {false, true}) {
      Layer m(opset);
      const std::string q = m.project("q", 8, bias), k = m.project("k", 4, bias), v = m.project("v", 6, bias);
      m.go_on(q, 8);
      m.go_on(k, 4, {0, 2, 3, 1});
      m.go_on(v, 6);
      const Cleaned c = clean(m);
      EXPECT_EQ(c.count("MatMul"), 1);
      EXPECT_EQ(c.count("Add"), bias);
      ASSERT_EQ(c.count("Split"), 1);
      EXPECT_EQ(c.input_of("MatMul", 1).shape, (Shape{kInner, 18}));
      EXPECT_EQ(c.input_of("Split", 0).shape, (Shape{2, kRows, 18}));
      ASSERT_EQ(c.first("Split").outputs.size(), 3u);
      EXPECT_EQ(c.after.value(c.first("Split").outputs[1]).name, k);  // the values that readers had are there
      EXPECT_EQ(c.first("Split").name.substr(0, 8), "MatMul_q");
    }
}

// Whisper's keys have none. -0 is the number that changes no other, 0 and -0 included.
TEST(SiblingProducts, OneWithoutABiasGetsOneThatChangesNothing) {
  Layer m;
  const std::string q = m.project("q", 4, true), k = m.project("k", 6, false);
  m.go_on(q, 4);
  m.go_on(k, 6);
  const Cleaned c = clean(m);
  EXPECT_EQ(c.count("MatMul"), 1);
  ASSERT_EQ(c.count("Add"), 1);
  const std::vector<double> bias = to_doubles(*c.input_of("Add", 1).constant);
  ASSERT_EQ(bias.size(), 10u);
  for (size_t i = 4; i < 10; ++i) EXPECT_EQ(std::bit_cast<uint64_t>(bias[i]), std::bit_cast<uint64_t>(-0.0));
}

TEST(SiblingProducts, GemmsAsLinearLayersAreSaved) {
  for (const bool transposed : {false, true})
    for (const int with_bias : {0, 1, 2}) {
      ModelMaker m;
      m.input("x", {"3", "4"});
      for (int i = 0; i < 2; ++i) {
        const std::string y = i ? "b" : "a";
        const int64_t columns = 2 + 2 * i;
        std::vector<float> weights, bias;
        for (int64_t e = 0; e < 4 * columns; ++e) weights.push_back(static_cast<float>(i * 100 + e) / 7);
        m.initializer(y + ".weight", transposed ? std::vector<int64_t>{columns, 4} : std::vector<int64_t>{4, columns}, weights);
        m.initializer(y + ".bias", {columns}, std::vector<float>(static_cast<size_t>(columns), 0.5f + static_cast<float>(i)));
        std::vector<std::string> inputs{"x", y + ".weight"};
        if (i < with_bias) inputs.push_back(y + ".bias");
        set_int(m.node("Gemm", inputs, {y}), "transB", transposed);
        m.node("Transpose", {y}, {y + ".moved"});
        m.node("Neg", {y + ".moved"}, {"y." + y});
        m.output("y." + y);
      }
      const Cleaned c = clean(m);
      ASSERT_EQ(c.count("Gemm"), 1);
      EXPECT_EQ(c.first("Gemm").inputs.size(), with_bias ? 3u : 2u);
      EXPECT_EQ(c.input_of("Gemm", 1).shape, transposed ? (Shape{6, 4}) : (Shape{4, 6}));
    }
}

// Keras adds biases to heads, and tf2onnx saves the product as a Gemm of nothing but its matrices.
TEST(SiblingProducts, BiasesThatAreAddedToHeadsAreAddedToColumns) {
  for (const char* op : {"MatMul", "Gemm"}) {
    ModelMaker m;
    m.input("x", {"6", "5"});
    m.initializer_i64("heads", {2, 3, 2, 2});
    for (const std::string y : {"q", "k", "v"}) {
      std::vector<float> weights;
      for (int e = 0; e < 20; ++e) weights.push_back(static_cast<float>(e) + (y == "q" ? 0 : y == "k" ? 0.5f : 0.25f));
      m.initializer(y + ".weight", {5, 4}, weights);
      auto& product = m.node(op, {"x", y + ".weight"}, {y});
      if (std::string(op) == "Gemm") set_float(product, "beta", 0);
      m.node("Reshape", {y, "heads"}, {y + ".heads"});
      m.initializer(y + ".bias", y == "v" ? std::vector<int64_t>{1, 2, 2} : std::vector<int64_t>{2, 2}, {1, 2, weights[3], 4});
      m.node("Add", {y + ".bias", y + ".heads"}, {y + ".sum"});
      set_ints(m.node("Transpose", {y + ".sum"}, {y + ".moved"}), "perm", {0, 2, 1, 3});
      m.node("Relu", {y + ".moved"}, {"y." + y});
      m.output("y." + y);
    }
    const Cleaned c = clean(m);
    EXPECT_EQ(c.count(op), 1);
    EXPECT_EQ(c.count("Add"), std::string(op) == "MatMul");
    EXPECT_EQ(c.count("Reshape"), 3);
  }
}

TEST(SiblingProducts, WhatIsAddedToRowsOrToOneColumnOfHeadsIsNoBias) {
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{4, 1, 1, 1}, {2, 1}, {1, 2}, {3, 1, 2}}) {
    ModelMaker m;
    m.input("x", {"12", "5"});
    m.initializer_i64("heads", {4, 3, 2, 2});
    m.initializer("added", shape, std::vector<float>(static_cast<size_t>(numel(shape)), 0.5f));
    for (const std::string y : {"q", "k"}) {
      m.initializer(y + ".weight", {5, 4}, std::vector<float>(20, y == "q" ? 1.0f : 0.5f));
      m.node("MatMul", {"x", y + ".weight"}, {y});
      m.node("Reshape", {y, "heads"}, {y + ".heads"});
      m.node("Add", {y + ".heads", "added"}, {y + ".sum"});
      set_ints(m.node("Transpose", {y + ".sum"}, {y + ".moved"}), "perm", {0, 2, 1, 3});
      m.node("Relu", {y + ".moved"}, {"y." + y});
      m.output("y." + y);
    }
    EXPECT_EQ(clean(m).count("MatMul"), 2) << to_string(shape);
  }
}

TEST(SiblingProducts, GemmsThatScaleTransposeOrAddOtherwiseStay) {
  for (const char* attribute : {"alpha", "beta", "transA", "row"}) {
    ModelMaker m;
    m.input("x", {"4", "4"});
    m.initializer("c", std::string(attribute) == "row" ? std::vector<int64_t>{4, 1} : std::vector<int64_t>{4}, {1, 2, 3, 4});
    for (const std::string y : {"a", "b"}) {
      std::vector<float> weights(16);
      for (size_t i = 0; i < 16; ++i) weights[i] = static_cast<float>(i) + (y == "a" ? 0 : 0.5f);
      m.initializer(y + ".weight", {4, 4}, weights);
      auto& node = m.node("Gemm", {"x", y + ".weight", "c"}, {y});
      if (std::string(attribute) == "transA") set_int(node, attribute, 1);
      else if (std::string(attribute) != "row") set_float(node, attribute, 0.5f);
      m.node("Transpose", {y}, {y + ".moved"});
      m.node("Neg", {y + ".moved"}, {"y." + y});
      m.output("y." + y);
    }
    EXPECT_EQ(clean(m).count("Gemm"), 2) << attribute;
  }
}

// silu(x A) * (x B): fuse_mlp takes the two products as they are.
TEST(SiblingProducts, AGatedLayerStays) {
  for (const bool bias : {false, true}) {
    Layer m;
    const std::string gate = m.project("gate", 8, bias), up = m.project("up", 8, bias);
    m.node("Sigmoid", {gate}, {"s"});
    m.node("Mul", {gate, "s"}, {"silu"});
    m.node("Mul", {"silu", up}, {"hidden"});
    m.node("MatMul", {"hidden", m.weight("down", {8, 3})}, {"y"});
    m.output("y");
    EXPECT_EQ(clean(m).count("MatMul"), 3);
  }
}

// As in GPT-J, whose layer gives its rows to attention and to the perceptron: an activation belongs to its product.
TEST(SiblingProducts, OneBeforeAnActivationStaysOut) {
  Layer m;
  m.go_on(m.project("q", 4), 4);
  m.go_on(m.project("k", 4), 4);
  m.initializer_i64("flat", {12, 8});
  m.node("Reshape", {m.project("hidden", 8), "flat"}, {"rows"});
  m.node("Tanh", {"rows"}, {"active"});
  m.output("active");
  const Cleaned c = clean(m);
  EXPECT_EQ(c.count("MatMul"), 2);
  EXPECT_EQ(c.first("Split").outputs.size(), 2u);
}

TEST(SiblingProducts, ResultsOfTheModelAreWrittenByTheirProducts) {
  for (const char* form : {"itself", "reshaped", "moved"}) {
    Layer m;
    m.go_on(m.project("q", 4), 4);
    m.go_on(m.project("k", 4), 4);
    m.go_on(m.project("v", 4), 4);
    m.output(std::string(form) == "itself" ? "v" : std::string(form) == "reshaped" ? "v.heads" : "v.moved");
    const Cleaned c = clean(m);
    EXPECT_EQ(c.count("MatMul"), 2) << form;
    EXPECT_EQ(c.first("Split").outputs.size(), 2u) << form;
    EXPECT_EQ(c.after.outputs.size(), 4u);
  }
}

TEST(SiblingProducts, ScaledQueriesGoOn) {
  for (const char* op : {"Mul", "Div"}) {
    Layer m;
    m.initializer("scale", {}, {0.35f});
    m.node(op, {m.project("q", 4, true), "scale"}, {"scaled"});
    m.go_on("scaled", 4);
    m.go_on(m.project("k", 4), 4);
    EXPECT_EQ(clean(m).count("MatMul"), 1) << op;
  }
}

TEST(SiblingProducts, WeightsThatOthersReadStay) {
  Layer m;
  m.go_on(m.project("q", 4), 4);
  m.go_on(m.project("k", 4), 4);
  m.input("z", {"2", "6", "5"});
  m.node("MatMul", {"z", "k.weight"}, {"again"});
  m.go_on("again", 4);
  const Cleaned c = clean(m);
  EXPECT_EQ(c.count("MatMul"), 3);
  EXPECT_EQ(c.count("Split"), 0);
}

TEST(SiblingProducts, OtherRowsOtherTypesAndWeightsThatDependOnDataStay) {
  Layer m;
  m.input("z", {"2", "6", "5"}).input("w", {"5", "4"});
  m.go_on(m.project("q", 4), 4);
  m.go_on(m.project("k", 4, false, "z"), 4);
  m.node("MatMul", {"z", "w"}, {"v"});
  m.go_on("v", 4);
  EXPECT_EQ(clean(m).count("MatMul"), 3);
}

// Keys and values of all layers of a decoder read what the encoder gave: each layer's are one product, not those of all.
TEST(SiblingProducts, ThoseOfALaterLayerAreAProductOfTheirOwn) {
  Layer m;
  for (const std::string layer : {"0", "1", "2"}) {
    for (const std::string what : {"k", "v"}) m.go_on(m.project(what + layer, 4), 4);
    m.node("MatMul", {"y.k" + layer, "y.v" + layer + ".turned"}, {"scores" + layer});
    set_ints(m.node("Transpose", {"y.v" + layer}, {"y.v" + layer + ".turned"}), "perm", {0, 1, 3, 2});
    m.output("scores" + layer);
  }
  const Cleaned c = clean(m);
  EXPECT_EQ(c.count("MatMul"), 6);
  EXPECT_EQ(c.count("Split"), 3);
}

TEST(SiblingProducts, HalfFloatsKeepTheirBits) {
  for (const auto type : {onnx::TensorProto::FLOAT16, onnx::TensorProto::BFLOAT16}) {
    ModelMaker m(18);
    m.input("x", {"3", "2"}, type);
    for (int i = 0; i < 2; ++i) {
      const std::string y = i ? "b" : "a";
      auto& w = m.initializer(y + ".weight", {2, 2}, {});
      w.set_data_type(type);
      for (int e = 0; e < 4; ++e) w.add_int32_data(0x3c00 + 16 * i + e);
      m.node("MatMul", {"x", y + ".weight"}, {y});
      m.node("Transpose", {y}, {y + ".moved"});
      m.node("Neg", {y + ".moved"}, {"y." + y});
      m.output("y." + y);
    }
    const Cleaned c = clean(m);
    ASSERT_EQ(c.count("MatMul"), 1);
    const Tensor& weights = *c.input_of("MatMul", 1).constant;
    const auto bits = weights.as<uint16_t>();
    EXPECT_EQ(std::vector<uint16_t>(bits.begin(), bits.end()), (std::vector<uint16_t>{0x3c00, 0x3c01, 0x3c10, 0x3c11, 0x3c02, 0x3c03, 0x3c12, 0x3c13}));
  }
}

// A file may say a thousand times where the same megabytes are.
TEST(SiblingProducts, CopiesOfWeightsAreWithinTheBudgetOfFolding) {
  Layer m;
  m.go_on(m.project("q", 4), 4);
  m.go_on(m.project("k", 4), 4);
  LoadOptions raw;
  raw.clean = false;
  Graph g = load_onnx_bytes(m.bytes(), "", raw);
  FoldBudget budget(g);
  budget.bytes = 2 * kInner * 4 * 4 - 1;
  EXPECT_FALSE(merge_sibling_products(g, budget));
  budget.bytes += 1;
  EXPECT_TRUE(merge_sibling_products(g, budget));
  EXPECT_EQ(budget.bytes, 0);
}

}  // namespace
}  // namespace amdahl
