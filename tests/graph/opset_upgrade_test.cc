// Rows of the table of version changes that ONNX's own cases (onnx_conformance_test.cc) do not reach.

#include "graph/onnx/opset_upgrade.h"

#include <gtest/gtest.h>

#include "graph/onnx/onnx_load.h"
#include "tests/graph/model_maker.h"
#include "tests/graph/same_meaning.h"

namespace amdahl {
namespace {

using testing::ModelMaker;
using testing::set_float;
using testing::set_int;
using testing::set_ints;
using testing::set_string;

// A model of one node of an older opset, which reads x and makes y.
class OpsetUpgrade : public ::testing::Test {
 protected:
  onnx::NodeProto& begin(int opset, const std::string& op, const std::vector<std::string>& dims, std::vector<std::string> inputs = {"x"}) {
    maker_ = ModelMaker(opset);
    maker_.input("x", dims).output("y");
    return maker_.node(op, inputs, {"y"});
  }
  // Computes what it computed before, all of it at `opset`.
  Graph upgraded(int opset) {
    LoadOptions raw;
    raw.clean = false;
    const Graph before = load_onnx_bytes(maker_.bytes(), "", raw);
    Graph after = before;
    upgrade_opset(after, opset);
    for (const Node& node : after.nodes) EXPECT_EQ(node.version, opset);
    testing::expect_same_meaning(before, after);
    return after;
  }

  ModelMaker maker_;
};

TEST_F(OpsetUpgrade, ScatterGotAnotherName) {
  begin(10, "Scatter", {"3"}, {"x", "indices", "updates"});
  maker_.initializer_i64("indices", {1});
  maker_.initializer("updates", {1}, {7});
  EXPECT_EQ(upgraded(17).nodes.at(0).op, "ScatterElements");
}

TEST_F(OpsetUpgrade, RowsOfASoftmaxBecomeADimension) {
  for (const char* op : {"Softmax", "LogSoftmax", "Hardmax"}) {
    set_int(begin(12, op, {"2", "3", "4"}), "axis", 1);
    EXPECT_EQ(upgraded(17).nodes.size(), 3u) << op;
  }
}

TEST_F(OpsetUpgrade, ARowThatIsTheLastDimensionStays) {
  begin(12, "Softmax", {"3", "4"});
  EXPECT_EQ(upgraded(17).nodes.size(), 1u);
}

TEST_F(OpsetUpgrade, PartsOfASplitBecomeAnInput) {
  onnx::NodeProto& split = begin(11, "Split", {"4", "2"});
  split.add_output("z");
  maker_.output("z");
  set_ints(split, "split", {1, 3});
  EXPECT_EQ(upgraded(18).nodes.at(0).inputs.size(), 2u);
}

TEST_F(OpsetUpgrade, EqualPartsAreCountedFrom18On) {
  begin(13, "Split", {"4", "2"}).add_output("z");
  maker_.output("z");
  EXPECT_FALSE(upgraded(17).nodes.at(0).has("num_outputs"));
  EXPECT_EQ(upgraded(18).nodes.at(0).attr_int("num_outputs", 0), 2);
}

TEST_F(OpsetUpgrade, AxesOfASqueezeBecomeAnInput) {
  set_ints(begin(11, "Squeeze", {"1", "3", "1"}), "axes", {0});
  EXPECT_EQ(upgraded(17).nodes.at(0).inputs.size(), 2u);
}

TEST_F(OpsetUpgrade, KOfTopKBecomesAnInput) {
  onnx::NodeProto& top = begin(9, "TopK", {"5"});
  top.add_output("z");
  maker_.output("z");
  set_int(top, "k", 2);
  EXPECT_FALSE(upgraded(17).nodes.at(0).has("k"));
}

TEST_F(OpsetUpgrade, AnOldResizeIsNotCentred) {
  for (const auto& [op, opset] : {std::pair{"Upsample", 9}, std::pair{"Resize", 10}}) {
    set_string(begin(opset, op, {"5"}, {"x", "scales"}), "mode", "linear");
    maker_.initializer("scales", {1}, {1.5f});
    EXPECT_EQ(upgraded(17).nodes.at(0).op, "Resize");
  }
}

TEST_F(OpsetUpgrade, ScalesOfAGroupAreRepeatedForItsChannels) {
  set_int(begin(18, "GroupNormalization", {"1", "4", "3"}, {"x", "scale", "bias"}), "num_groups", 2);
  maker_.initializer("scale", {2}, {0.5f, 2});
  maker_.initializer("bias", {2}, {1, -1});
  upgraded(20);
  const Graph after = upgraded(21);
  EXPECT_EQ(to_doubles(*after.value(after.nodes.at(0).inputs.at(1)).constant), (std::vector<double>{0.5, 0.5, 2, 2}));
}

TEST_F(OpsetUpgrade, DropoutLosesARatioThatDoesNothing) {
  set_float(begin(10, "Dropout", {"3"}), "ratio", 0.25f);
  EXPECT_FALSE(upgraded(17).nodes.at(0).has("ratio"));
}

}  // namespace
}  // namespace amdahl
