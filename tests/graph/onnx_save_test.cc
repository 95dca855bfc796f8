#include "graph/onnx/onnx_save.h"

#include <gtest/gtest.h>

#include <cfloat>

#include "base/error.h"
#include "graph/models/load_model.h"
#include "graph/onnx/onnx_load.h"
#include "tests/graph/model_maker.h"
#include "tests/graph/same_meaning.h"
#include "tests/graph/temporary_folder.h"

namespace amdahl {
namespace {

using testing::expect_same_meaning;
using testing::ModelMaker;
using testing::set_float;
using testing::set_int;
using testing::set_ints;
using testing::TemporaryFolder;

LoadOptions raw() {
  LoadOptions options;
  options.clean = false;
  return options;
}

onnx::ModelProto read_proto(const std::string& path) {
  onnx::ModelProto proto;
  std::ifstream in(path, std::ios::binary);
  proto.ParseFromIstream(&in);
  return proto;
}

ModelMaker layer() {
  ModelMaker m;
  m.input("x", {"2", "32"}).output("y");
  std::vector<float> w(32 * 32);
  for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i % 17) / 16 - 0.5f;
  m.initializer("w", {32, 32}, w);
  m.initializer("b", {32}, std::vector<float>(32, 0.25f));
  auto& gemm = m.node("Gemm", {"x", "w", "b"}, {"g"});
  set_float(gemm, "alpha", 0.5f);
  set_int(gemm, "transB", 1);
  m.node("Relu", {"g"}, {"y"});
  return m;
}

TEST(OnnxSave, ComesBackTheSame) {
  const TemporaryFolder dir;
  const Graph g = load_onnx_bytes(layer().bytes(), "", {});
  for (bool external : {false, true}) {
    save_onnx(g, dir / "out.onnx", external);
    const Graph back = load_model(dir / "out.onnx", {});
    EXPECT_EQ(fingerprint(back), fingerprint(g)) << external;
    expect_same_meaning(g, back);
  }
}

TEST(OnnxSave, OnlyLargeWeightsLeaveTheFile) {
  const TemporaryFolder dir;
  save_onnx(load_onnx_bytes(layer().bytes(), "", {}), dir / "out.onnx", true);
  EXPECT_EQ(std::filesystem::file_size(dir / "out.onnx.data"), 32u * 32 * 4);
  const onnx::ModelProto proto = read_proto(dir / "out.onnx");
  for (const auto& t : proto.graph().initializer()) EXPECT_EQ(t.data_location() == onnx::TensorProto::EXTERNAL, t.dims_size() == 2);
}

TEST(OnnxSave, ReplacesTheFileItWasLoadedFrom) {
  const TemporaryFolder dir;
  save_onnx(load_onnx_bytes(layer().bytes(), "", {}), dir / "m.onnx", true);
  const Graph mapped = load_model(dir / "m.onnx", {});
  save_onnx(mapped, dir / "m.onnx", true);
  expect_same_meaning(mapped, load_model(dir / "m.onnx", {}));
  EXPECT_FALSE(std::filesystem::exists(dir / "m.onnx.part"));
}

TEST(OnnxSave, AFolderThatIsNotThereIsAnIoError) {
  const TemporaryFolder dir;
  try {
    save_onnx(load_onnx_bytes(layer().bytes(), "", {}), dir / "absent/out.onnx", false);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kIo);
  }
}

TEST(OnnxSave, OldOperatorsAreWrittenInTheirNewForm) {
  const TemporaryFolder dir;
  ModelMaker m(9);
  m.input("x", {"2", "3", "4"}).output("y");
  set_ints(m.node("Unsqueeze", {"x"}, {"a"}), "axes", {0});
  set_ints(m.node("Squeeze", {"a"}, {"b"}), "axes", {0});
  auto& clip = m.node("Clip", {"b"}, {"c"});
  set_float(clip, "min", -0.5f);
  set_float(clip, "max", 0.75f);
  set_int(m.node("Softmax", {"c"}, {"d"}), "axis", 1);  // over dimensions 1 and 2 together
  auto& sum = m.node("ReduceSum", {"d"}, {"e"});
  set_ints(sum, "axes", {1});
  set_int(sum, "keepdims", 0);
  set_ints(m.node("Pad", {"e"}, {"f"}), "pads", {0, 1, 0, 2});
  auto& slice = m.node("Slice", {"f"}, {"y"});
  set_ints(slice, "starts", {1});
  set_ints(slice, "ends", {5});
  set_ints(slice, "axes", {1});
  const Graph g = load_onnx_bytes(m.bytes(), "", raw());
  save_onnx(g, dir / "out.onnx", false);
  EXPECT_EQ(read_proto(dir / "out.onnx").opset_import(0).version(), 17);
  const Graph back = load_model(dir / "out.onnx", raw());
  for (const Node& n : back.nodes) EXPECT_EQ(n.version, 17);
  expect_same_meaning(g, back, 1e-6);
}

// Its absent limit is finite, and that of the newer Clip is an input like any other.
TEST(OnnxSave, AnAbsentLimitOfAnOldClipIsWrittenOut) {
  const TemporaryFolder dir;
  ModelMaker m(10);
  m.input("x", {"2"}).output("y");
  set_float(m.node("Clip", {"x"}, {"y"}), "max", 2);
  save_onnx(load_onnx_bytes(m.bytes(), "", raw()), dir / "out.onnx", false);
  const Graph saved = load_model(dir / "out.onnx", raw());
  ASSERT_EQ(saved.nodes.at(0).inputs.size(), 3u);
  const auto limit = [&](size_t i) { return to_doubles(*saved.value(saved.nodes[0].inputs[i]).constant); };
  EXPECT_EQ(limit(1), std::vector<double>{-FLT_MAX});
  EXPECT_EQ(limit(2), std::vector<double>{2});
}

TEST(OnnxSave, AnInputThatIsAnOutputKeepsItsName) {
  const TemporaryFolder dir;
  ModelMaker m;
  m.input("x", {"2"}).output("y");
  m.initializer("y_0", {2}, {1, 2});
  m.node("Add", {"x", "y_0"}, {"y"});
  Graph g = load_onnx_bytes(m.bytes(), "", {});
  for (Value& v : g.values)
    if (v.constant) v.name = "y";  // as a folded result may be called
  save_onnx(g, dir / "out.onnx", false);
  const Graph back = load_model(dir / "out.onnx", {});
  EXPECT_EQ(back.value(back.outputs[0]).name, "y");
  expect_same_meaning(g, back);
}

// What a viewer shows: shapes between nodes, and what the caller says of model and nodes.
TEST(OnnxSave, NotesAndShapesGoAlong) {
  const TemporaryFolder dir;
  const Graph g = load_onnx_bytes(layer().bytes(), "", {});
  OnnxNotes notes{"a layer", {{"step.0", "both"}}, {{g.outputs[0], "the last"}}};
  save_onnx(g, dir / "out.onnx", false, notes);
  const onnx::ModelProto proto = read_proto(dir / "out.onnx");
  EXPECT_EQ(proto.doc_string(), "a layer");
  ASSERT_EQ(proto.metadata_props_size(), 1);
  EXPECT_EQ(proto.metadata_props(0).key() + "=" + proto.metadata_props(0).value(), "step.0=both");
  ASSERT_EQ(proto.graph().node_size(), 2);
  EXPECT_EQ(proto.graph().node(0).doc_string() + proto.graph().node(1).doc_string(), "the last");
  ASSERT_EQ(proto.graph().value_info_size(), 1);
  EXPECT_EQ(proto.graph().value_info(0).name(), proto.graph().node(0).output(0));
  EXPECT_EQ(proto.graph().value_info(0).type().tensor_type().shape().dim(1).dim_value(), 32);
}

}  // namespace
}  // namespace amdahl
