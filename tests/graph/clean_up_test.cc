#include "graph/clean_up/clean_up.h"

#include <gtest/gtest.h>

#include "graph/onnx/onnx_load.h"
#include "tests/graph/model_maker.h"
#include "tests/graph/same_meaning.h"

namespace amdahl {
namespace {

using testing::expect_same_meaning;
using testing::ModelMaker;
using testing::set_float;
using testing::set_int;
using testing::set_ints;
using testing::set_string;

struct Cleaned {
  Graph before, after;
  int count(const std::string& op) const {
    return static_cast<int>(std::count_if(after.nodes.begin(), after.nodes.end(), [&](const Node& n) { return n.op == op; }));
  }
};

Cleaned clean(const ModelMaker& m, double tolerance = 0) {
  LoadOptions raw;
  raw.clean = false;
  Cleaned c{load_onnx_bytes(m.bytes(), "", raw), load_onnx_bytes(m.bytes(), "", {})};
  expect_same_meaning(c.before, c.after, tolerance);
  return c;
}

TEST(CleanUp, FoldsAShapeComputation) {
  ModelMaker m;
  m.input("x", {"2", "3", "4"}).output("y");
  m.node("Shape", {"x"}, {"s"});
  m.initializer_i64("i", {0});
  m.initializer_i64("minus_one", {-1});
  m.node("Gather", {"s", "i"}, {"batch"});
  set_int(m.node("Concat", {"batch", "minus_one"}, {"target"}), "axis", 0);
  m.node("Reshape", {"x", "target"}, {"flat"});
  m.node("Relu", {"flat"}, {"y"});
  const Cleaned c = clean(m);
  EXPECT_EQ(c.after.nodes.size(), 2u);
  EXPECT_EQ(c.after.value(c.after.outputs[0]).shape, (Shape{2, 12}));
}

TEST(CleanUp, RemovesWhatDoesNothing) {
  ModelMaker m;
  m.input("x", {"2", "3"}).output("y");
  m.initializer("zero", {3}, {0, 0, 0});
  m.initializer("one", {}, {1});
  m.initializer_i64("same", {2, 3});
  m.initializer_i64("no_pads", {0, 0, 0, 0});
  m.initializer_i64("starts", {0, 0});
  m.initializer_i64("ends", {INT64_MAX, INT64_MAX});
  m.node("Identity", {"x"}, {"a"});
  m.node("Dropout", {"a"}, {"b"});
  set_int(m.node("Cast", {"b"}, {"c"}), "to", onnx::TensorProto::FLOAT);
  m.node("Add", {"zero", "c"}, {"d"});
  m.node("Mul", {"d", "one"}, {"e"});
  m.node("Reshape", {"e", "same"}, {"f"});
  m.node("Expand", {"f", "same"}, {"g"});
  m.node("Pad", {"g", "no_pads"}, {"h"});
  set_ints(m.node("Transpose", {"h"}, {"i"}), "perm", {0, 1});
  m.node("Slice", {"i", "starts", "ends"}, {"j"});
  set_int(m.node("Concat", {"j"}, {"k"}), "axis", 0);
  m.node("Relu", {"k"}, {"l"});
  m.node("Identity", {"l"}, {"y"});
  const Cleaned c = clean(m);
  ASSERT_EQ(c.after.nodes.size(), 1u);
  EXPECT_EQ(c.after.nodes[0].op, "Relu");
  EXPECT_EQ(c.after.value(c.after.nodes[0].outputs[0]).name, "y");
}

TEST(CleanUp, KeepsWhatOnlyLooksLikeNothing) {
  ModelMaker m;
  m.input("x", {"3", "3"}).input("row", {"3"}).output("a").output("b").output("c").output("d");
  m.initializer_i64("shift", {-1, 0, 1, 0});  // pads that move the contents
  m.initializer_i64("starts", {-1});
  m.initializer_i64("ends", {INT64_MIN});
  m.initializer_i64("axes", {0});
  m.initializer_i64("steps", {-1});  // a reversal
  m.initializer("zeros", {3, 3}, std::vector<float>(9, 0));
  m.node("Pad", {"x", "shift"}, {"a"});
  m.node("Slice", {"x", "starts", "ends", "axes", "steps"}, {"b"});
  m.node("Transpose", {"x"}, {"c"});
  m.node("Add", {"row", "zeros"}, {"d"});  // neutral, but it broadcasts
  EXPECT_EQ(clean(m).after.nodes.size(), 4u);
}

TEST(CleanUp, OutputsKeepTheirNames) {
  ModelMaker m;
  m.input("x", {"2"}).output("copy").output("relu").output("same_relu").output("constant");
  m.initializer("w", {2}, {3, 4});
  m.node("Identity", {"x"}, {"copy"});
  m.node("Relu", {"x"}, {"relu"});
  m.node("Relu", {"x"}, {"same_relu"});
  m.node("Identity", {"w"}, {"constant"});
  const Cleaned c = clean(m);
  ASSERT_EQ(c.after.outputs.size(), 4u);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(c.after.value(c.after.outputs[i]).name, c.before.value(c.before.outputs[i]).name);
  EXPECT_TRUE(c.after.is_constant(c.after.outputs[3]));
}

TEST(CleanUp, DropsDeadCodeAndUnusedConstants) {
  ModelMaker m;
  m.input("x", {"2"}).output("y");
  m.initializer("unused", {2}, {1, 2});
  m.node("Exp", {"x"}, {"nobody"});
  m.node("NotAnOperator", {"nobody"}, {"asks"});  // does not make the model unusable
  m.node("Relu", {"x"}, {"y"});
  const Graph g = load_onnx_bytes(m.bytes(), "", {});
  EXPECT_EQ(g.nodes.size(), 1u);
  EXPECT_EQ(g.values.size(), 2u);
}

TEST(CleanUp, OutputsOfARecurrenceThatNobodyReadsAreNotMade) {
  ModelMaker m;
  m.input("x", {"3", "1", "2"}).input("w", {"1", "8", "2"}).input("r", {"1", "8", "2"}).output("h");
  m.node("LSTM", {"x", "w", "r"}, {"y", "h", "c"});
  const Graph g = load_onnx_bytes(m.bytes(), "", {});
  ASSERT_EQ(g.nodes.size(), 1u);
  ASSERT_EQ(g.nodes[0].outputs.size(), 2u);
  EXPECT_EQ(g.nodes[0].outputs[0], kNoValue);
  EXPECT_EQ(g.nodes[0].outputs[1], g.outputs[0]);
}

TEST(CleanUp, AnInputThatNothingReadsStays) {
  ModelMaker m;
  m.input("x", {"2"}).input("ignored", {"5"}).output("y");
  m.node("Relu", {"x"}, {"y"});
  EXPECT_EQ(load_onnx_bytes(m.bytes(), "", {}).inputs.size(), 2u);
}

TEST(CleanUp, MergesEqualNodesAndConstants) {
  ModelMaker m;
  m.input("x", {"2", "2"}).output("y");
  m.initializer("w1", {2, 2}, {1, 2, 3, 4});
  m.initializer("w2", {2, 2}, {1, 2, 3, 4});
  m.initializer("w3", {2, 2}, {1, 2, 3, 5});
  m.node("MatMul", {"x", "w1"}, {"a"});
  m.node("MatMul", {"x", "w2"}, {"b"});
  m.node("MatMul", {"x", "w3"}, {"c"});
  m.node("Add", {"a", "b"}, {"ab"});
  m.node("Add", {"ab", "c"}, {"y"});
  const Cleaned c = clean(m);
  EXPECT_EQ(c.count("MatMul"), 2);
  EXPECT_EQ(c.after.values.size(), 1u + 2 + 4);
}

TEST(CleanUp, AttributesKeepNodesApart) {
  ModelMaker m;
  m.input("x", {"2", "2"}).output("y");
  set_float(m.node("LeakyRelu", {"x"}, {"a"}), "alpha", 0.1f);
  set_float(m.node("LeakyRelu", {"x"}, {"b"}), "alpha", 0.2f);
  m.node("Add", {"a", "b"}, {"y"});
  EXPECT_EQ(clean(m).count("LeakyRelu"), 2);
}

TEST(CleanUp, BatchNormalizationBecomesMulAndAdd) {
  for (int opset : {9, 14, 17}) {
    ModelMaker m(opset);
    m.input("x", {"2", "3", "4", "5"}).output("y");
    m.initializer("scale", {3}, {0.5f, 2, -1});
    m.initializer("shift", {3}, {1, -2, 0});
    m.initializer("mean", {3}, {0.1f, 0.2f, -3});
    m.initializer("variance", {3}, {1, 0.01f, 4});
    set_float(m.node("BatchNormalization", {"x", "scale", "shift", "mean", "variance"}, {"y"}), "epsilon", 1e-3f);
    const Cleaned c = clean(m, 4e-7);
    EXPECT_EQ(c.count("BatchNormalization"), 0);
    EXPECT_EQ(c.count("Mul"), 1);
    EXPECT_EQ(c.count("Add"), 1);
  }
}

TEST(CleanUp, ViewsBecomeOneReshape) {
  ModelMaker m;
  m.input("x", {"2", "1", "3", "4"}).output("y");
  m.initializer_i64("axis1", {1});
  m.initializer_i64("axis0", {0});
  m.initializer_i64("target", {0, -1});
  m.node("Squeeze", {"x", "axis1"}, {"a"});
  m.node("Unsqueeze", {"a", "axis0"}, {"b"});
  set_int(m.node("Flatten", {"b"}, {"c"}), "axis", 2);
  set_ints(m.node("Transpose", {"x"}, {"d"}), "perm", {1, 0, 2, 3});  // moves a dimension of one only
  m.node("Reshape", {"d", "axis0x"}, {"e"});
  m.initializer_i64("axis0x", {2, 12});
  m.node("Add", {"c", "e"}, {"y"});
  const Cleaned c = clean(m);
  EXPECT_EQ(c.count("Reshape"), 1);  // both chains start at x and end in [2, 12]
  EXPECT_EQ(c.after.nodes.size(), 2u);
}

TEST(CleanUp, TransposesCancelOrCombine) {
  ModelMaker m;
  m.input("x", {"2", "3", "4"}).output("y").output("z");
  set_ints(m.node("Transpose", {"x"}, {"a"}), "perm", {1, 2, 0});
  set_ints(m.node("Transpose", {"a"}, {"b"}), "perm", {2, 0, 1});
  m.node("Relu", {"b"}, {"y"});
  set_ints(m.node("Transpose", {"a"}, {"c"}), "perm", {1, 0, 2});
  m.node("Neg", {"c"}, {"z"});
  EXPECT_EQ(clean(m).count("Transpose"), 1);
}

TEST(CleanUp, AdaptivePoolingToTheSizeThatIsThereGoes) {
  ModelMaker m;
  m.input("x", {"1", "2", "3", "3"}).output("y").output("z");
  auto& nothing = m.node("AveragePool", {"x"}, {"a"});
  set_ints(nothing, "kernel_shape", {1, 1});
  set_ints(nothing, "strides", {1, 1});
  m.node("Relu", {"a"}, {"y"});
  auto& moves = m.node("AveragePool", {"x"}, {"z"});  // same size, but not the same elements
  set_ints(moves, "kernel_shape", {1, 1});
  set_ints(moves, "pads", {1, 0, 1, 0});
  set_ints(moves, "strides", {2, 1});
  const Cleaned c = clean(m);
  EXPECT_EQ(c.count("AveragePool"), 1);
}

TEST(CleanUp, TransposesOfWeightsAreFoldedForAnyElementSize) {
  for (int type : {onnx::TensorProto::FLOAT, onnx::TensorProto::INT64, onnx::TensorProto::INT8, onnx::TensorProto::INT16})
    for (const std::vector<int64_t>& perm : std::vector<std::vector<int64_t>>{{2, 1, 0}, {1, 2, 0}, {0, 2, 1}, {2, 0, 1}}) {
      ModelMaker m;
      m.output("y");
      auto& w = m.initializer("w", {3, 40, 37}, {});
      w.set_data_type(type);
      const int n = 3 * 40 * 37;
      if (type == onnx::TensorProto::FLOAT)
        for (int i = 0; i < n; ++i) w.add_float_data(static_cast<float>(i));
      else if (type == onnx::TensorProto::INT64)
        for (int i = 0; i < n; ++i) w.add_int64_data(i);
      else
        for (int i = 0; i < n; ++i) w.add_int32_data(i % 120);
      set_ints(m.node("Transpose", {"w"}, {"y"}), "perm", perm);
      EXPECT_TRUE(clean(m).after.nodes.empty());
    }
}

TEST(CleanUp, BroadcastingReadsThroughExpand) {
  ModelMaker m;
  m.input("x", {"2", "3", "4"}).input("row", {"1", "4"}).output("y").output("z");
  m.initializer_i64("target", {2, 3, 4});
  m.node("Expand", {"row", "target"}, {"wide"});
  m.node("Add", {"x", "wide"}, {"y"});
  m.node("Neg", {"row"}, {"minus"});
  m.node("Expand", {"minus", "target"}, {"wide2"});
  m.node("Mul", {"wide2", "wide2"}, {"z"});  // here the Expand makes the shape
  EXPECT_EQ(clean(m).count("Expand"), 1);
}

TEST(CleanUp, AMeanOverAnImageIsAPooling) {
  for (const bool keep : {true, false})
    for (const bool as_input : {true, false})
      for (const std::vector<int64_t>& axes : {std::vector<int64_t>{2, 3}, {-1, 2}, {3, -2}}) {
        ModelMaker m(as_input ? 18 : 17);
        m.input("x", {"2", "3", "4", "5"}).output("y");
        if (as_input) m.initializer_i64("axes", axes);
        auto&& node = m.node("ReduceMean", as_input ? std::vector<std::string>{"x", "axes"} : std::vector<std::string>{"x"}, {"y"});
        if (!as_input) set_ints(node, "axes", axes);
        set_int(node, "keepdims", keep);
        const Cleaned c = clean(m, 1e-6);
        EXPECT_EQ(c.count("GlobalAveragePool"), 1);
        EXPECT_EQ(c.count("ReduceMean"), 0);
        EXPECT_EQ(c.after.value(c.after.outputs[0]).shape, keep ? (Shape{2, 3, 1, 1}) : (Shape{2, 3}));
      }
}

TEST(CleanUp, OtherMeansStay) {
  for (const std::vector<int64_t>& axes : {std::vector<int64_t>{1, 3}, {3}, {1, 2, 3}}) {
    ModelMaker m(17);
    m.input("x", {"2", "3", "3", "5"}).output("y");
    auto&& node = m.node("ReduceMean", {"x"}, {"y"});
    set_ints(node, "axes", axes);
    set_int(node, "keepdims", 0);
    EXPECT_EQ(clean(m, 1e-6).count("ReduceMean"), 1);
  }
}

struct EinsumCase {
  const char* equation;
  Shape a, b;
};
class CleanUpEinsum : public ::testing::TestWithParam<EinsumCase> {};

TEST_P(CleanUpEinsum, BecomesMatMul) {
  const auto dims = [](const Shape& s) {
    std::vector<std::string> text;
    for (int64_t d : s) text.push_back(std::to_string(d));
    return text;
  };
  ModelMaker m;
  m.input("a", dims(GetParam().a)).input("b", dims(GetParam().b)).output("y");
  set_string(m.node("Einsum", {"a", "b"}, {"y"}), "equation", GetParam().equation);
  const Cleaned c = clean(m, 1e-14);  // another order of summation, in double
  EXPECT_EQ(c.count("Einsum"), 0);
  EXPECT_EQ(c.count("MatMul"), 1);
}

INSTANTIATE_TEST_SUITE_P(Equations, CleanUpEinsum,
                         ::testing::Values(EinsumCase{"ij,jk->ik", {2, 3}, {3, 4}}, EinsumCase{"ij,kj->ki", {2, 3}, {4, 3}},
                                           EinsumCase{"bhid,bhjd->bhij", {2, 3, 4, 5}, {2, 3, 6, 5}}, EinsumCase{"bhij,bjhd->bihd", {2, 3, 4, 6}, {2, 6, 3, 5}},
                                           EinsumCase{"bsd, dhk -> bshk", {2, 3, 4}, {4, 5, 6}}, EinsumCase{"...ij,...jk->...ik", {2, 3, 4}, {2, 4, 5}},
                                           EinsumCase{"i,j->ij", {3}, {4}}, EinsumCase{"i,i->", {3}, {3}}, EinsumCase{"ij,jk", {2, 3}, {3, 4}}));

// Diagonals, sums over what only one operand has, and sizes of 1 that are broadcast, before a product or without one.
class CleanUpEinsumAside : public ::testing::TestWithParam<EinsumCase> {};

TEST_P(CleanUpEinsumAside, LeavesNoEinsum) {
  for (int opset : {12, 18}) {
    ModelMaker m(opset);
    std::vector<std::string> names;
    for (const Shape& shape : {GetParam().a, GetParam().b}) {
      if (std::string_view(GetParam().equation).find(',') == std::string_view::npos && !names.empty()) continue;
      std::vector<std::string> dims;
      for (int64_t d : shape) dims.push_back(std::to_string(d));
      names.push_back(names.empty() ? "a" : "b");
      m.input(names.back(), dims);
    }
    m.output("y");
    set_string(m.node("Einsum", names, {"y"}), "equation", GetParam().equation);
    EXPECT_EQ(clean(m, 1e-14).count("Einsum"), 0) << opset;
  }
}

INSTANTIATE_TEST_SUITE_P(Equations, CleanUpEinsumAside,
                         ::testing::Values(EinsumCase{"ijk->ki", {2, 3, 4}, {}}, EinsumCase{"ijk->kji", {2, 3, 4}, {}}, EinsumCase{"ij->", {2, 3}, {}},
                                           EinsumCase{"ij->ij", {2, 3}, {}}, EinsumCase{"ba", {2, 3}, {}}, EinsumCase{"ii->i", {3, 3}, {}},
                                           EinsumCase{"ii", {3, 3}, {}}, EinsumCase{"iji->ij", {3, 2, 3}, {}}, EinsumCase{"iii->i", {2, 2, 2}, {}},
                                           EinsumCase{"aabb->ba", {2, 2, 3, 3}, {}}, EinsumCase{"...ij->...ji", {2, 3, 4}, {}},
                                           EinsumCase{"i...->...", {2, 3, 4}, {}}, EinsumCase{"ij->i", {2, 0}, {}}, EinsumCase{"ii->i", {0, 0}, {}},
                                           EinsumCase{"ij,kl->il", {2, 3}, {4, 5}}, EinsumCase{"ii,ij->j", {3, 3}, {3, 2}},
                                           EinsumCase{"ij,jk->k", {2, 3}, {3, 4}}, EinsumCase{"ij,ij->ij", {2, 3}, {2, 1}},
                                           EinsumCase{"ij,jk->ik", {2, 1}, {3, 4}}, EinsumCase{"ij,->i", {2, 3}, {}},
                                           EinsumCase{"...ij,jk->...ik", {4, 2, 3}, {3, 2}}, EinsumCase{"ij,jk->ik", {2, 0}, {0, 4}}));

TEST(CleanUp, IsStable) {
  ModelMaker m;
  m.input("x", {"2", "3", "4"}).output("y");
  m.initializer_i64("axis", {0});
  m.node("Unsqueeze", {"x", "axis"}, {"a"});
  set_ints(m.node("Transpose", {"a"}, {"b"}), "perm", {0, 2, 3, 1});
  m.node("Relu", {"b"}, {"y"});
  Graph once = load_onnx_bytes(m.bytes(), "", {});
  const std::string print = fingerprint(once);
  EXPECT_EQ(fingerprint(load_onnx_bytes(m.bytes(), "", {})), print);
  clean_up(once);
  EXPECT_EQ(fingerprint(once), print);
}

}  // namespace
}  // namespace amdahl
