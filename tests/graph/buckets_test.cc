// Several shapes of one model in one graph.

#include "graph/models/buckets.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/models/bucket_axes.h"
#include "graph/models/load_model.h"
#include "graph/models/padding.h"
#include "tests/graph/model_maker.h"
#include "tests/graph/temporary_folder.h"

namespace amdahl {
namespace {

LoadOptions of_seq(int64_t seq, int64_t batch = 1) {
  LoadOptions options;
  options.seq = seq;
  options.batch = batch;
  return options;
}

size_t constant_bytes(const Graph& graph) {
  size_t bytes = 0;
  for (const Value& v : graph.values)
    if (v.constant) bytes += v.constant->bytes();
  return bytes;
}

TEST(Buckets, OneShapeIsTheModelItself) {
  const Graph one = load_buckets("builtin:gpt2-mini", {{"", of_seq(8)}});
  EXPECT_TRUE(one.buckets.empty());
  EXPECT_EQ(fingerprint(one), fingerprint(load_model("builtin:gpt2-mini", of_seq(8))));
}

TEST(Buckets, StandSideBySideAndShareEqualConstants) {
  const Graph small = load_model("builtin:gpt2-mini", of_seq(8)), large = load_model("builtin:gpt2-mini", of_seq(16));
  const Graph both = load_buckets("builtin:gpt2-mini", {{"8", of_seq(8)}, {"16", of_seq(16)}});
  ASSERT_EQ(both.buckets.size(), 2u);
  EXPECT_EQ(both.nodes.size(), small.nodes.size() + large.nodes.size());
  ASSERT_EQ(both.inputs.size(), 2u);
  EXPECT_EQ(both.value(both.inputs[0]).name, "input_ids@8");
  EXPECT_EQ(both.value(bucket_inputs(both, 1)[0]).name, "input_ids@16");
  EXPECT_EQ(both.value(bucket_outputs(both, 1)[0]).shape[1], 16);
  // Masks and positions differ between shapes; the weights do not.
  EXPECT_LT(constant_bytes(both), constant_bytes(large) + constant_bytes(small) / 4);
  for (const Node& node : both.nodes) {
    const size_t owner = bucket_of(both.buckets, node.outputs[0]);
    EXPECT_TRUE(node.name.ends_with("@" + both.buckets[owner].name)) << node.name;
    for (ValueId v : node.inputs) {
      if (v == kNoValue || both.is_constant(v)) continue;
      EXPECT_EQ(bucket_of(both.buckets, v), owner) << node.name;
    }
  }
  EXPECT_EQ(bucket_for(both, {{"input_ids", {1, 16}}}), std::optional<size_t>(1));
  EXPECT_EQ(bucket_for(both, {{"input_ids", {1, 9}}}), std::nullopt);
  EXPECT_EQ(name_in_bucket(both.buckets[0], "input_ids@8"), "input_ids");
  EXPECT_EQ(name_in_bucket(both.buckets[0], "input_ids@16"), "input_ids@16");
}

TEST(Buckets, ConstantsOfEqualShapeAndOtherBytesStayApart) {
  testing::TemporaryFolder dir;
  testing::ModelMaker m;
  m.input("x", {"n"}).output("y");
  m.initializer("one", {1}, {1.0f});
  m.initializer("two", {1}, {2.0f});
  m.node("Add", {"x", "one"}, {"t"});
  m.node("Mul", {"t", "two"}, {"y"});
  LoadOptions a, b;
  a.input_shapes["x"] = {3};
  b.input_shapes["x"] = {5};
  const Graph both = load_buckets(dir.write("m.onnx", m.bytes()), {{"3", a}, {"5", b}});
  EXPECT_EQ(constant_bytes(both), 8u);
}

TEST(Buckets, AShapeThatChangesMoreThanSizesIsRefused) {
  testing::TemporaryFolder dir;
  testing::ModelMaker m;
  m.input("x", {}).output("y");
  m.proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  m.node("Relu", {"x"}, {"y"});
  LoadOptions vector, matrix;
  vector.input_shapes["x"] = {4};
  matrix.input_shapes["x"] = {4, 4};
  const std::string file = dir.write("m.onnx", m.bytes());
  try {
    load_buckets(file, {{"4", vector}, {"4x4", matrix}});
    FAIL() << "taken";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kUsage);
    EXPECT_NE(std::string(e.what()).find("sessions of their own"), std::string::npos) << e.what();
  }
}

TEST(BucketAxes, OutputsFollowInputs) {
  const Graph g = load_buckets("builtin:gpt2-mini", {{"16", of_seq(16, 2)}, {"8", of_seq(8, 1)}});
  EXPECT_EQ(buckets_by_size(g), (std::vector<size_t>{1, 0}));
  EXPECT_EQ(open_axes(g), (std::vector<std::vector<bool>>{{true, true}}));
  const auto sources = output_axes(g);
  ASSERT_TRUE(sources.has_value());
  ASSERT_EQ((*sources)[0].size(), 3u);
  EXPECT_EQ((*sources)[0][0].axis, 0);
  EXPECT_EQ((*sources)[0][1].axis, 1);
  EXPECT_EQ((*sources)[0][2].input, -1);  // the vocabulary
}

TEST(BucketAxes, ASizeThatIsNoInputsIsFound) {
  testing::TemporaryFolder dir;
  testing::ModelMaker m;
  m.input("x", {"n"}).output("y");
  m.node("Concat", {"x", "x"}, {"y"}).add_attribute()->set_name("axis");
  auto* axis = m.proto.mutable_graph()->mutable_node(0)->mutable_attribute(0);
  axis->set_type(onnx::AttributeProto::INT);
  axis->set_i(0);
  LoadOptions a, b;
  a.input_shapes["x"] = {3};
  b.input_shapes["x"] = {5};
  EXPECT_FALSE(output_axes(load_buckets(dir.write("m.onnx", m.bytes()), {{"3", a}, {"5", b}})).has_value());
}

TEST(Padding, AppendsZerosAndCropsThemAway) {
  const Tensor small = Tensor::of<float>(DType::kF32, {2, 2}, {1, 2, 3, 4});
  const Tensor large = padded(small, {3, 4});
  const std::span<const float> x = large.as<float>();
  EXPECT_EQ(std::vector<float>(x.begin(), x.end()), (std::vector<float>{1, 2, 0, 0, 3, 4, 0, 0, 0, 0, 0, 0}));
  const Tensor back = cropped(large, {2, 2});
  EXPECT_EQ(std::memcmp(back.data(), small.data(), small.bytes()), 0);
  const Tensor scalar = Tensor::of<float>(DType::kF32, {}, {7});
  EXPECT_EQ(padded(scalar, {}).as<float>()[0], 7);
}

}  // namespace
}  // namespace amdahl
