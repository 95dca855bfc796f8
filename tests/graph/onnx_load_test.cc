#include "graph/onnx/onnx_load.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/models/load_model.h"
#include "tests/graph/model_maker.h"
#include "tests/graph/same_meaning.h"
#include "tests/graph/temporary_folder.h"

namespace amdahl {
namespace {

using testing::ModelMaker;
using testing::set_float;
using testing::set_int;
using testing::set_ints;
using testing::TemporaryFolder;

Graph as_in_file(const ModelMaker& m) {
  LoadOptions options;
  options.clean = false;
  return load_onnx_bytes(m.bytes(), "", options);
}

const Value& value_named(const Graph& g, const std::string& name) {
  for (const Value& v : g.values)
    if (v.name == name) return v;
  throw std::runtime_error("no value " + name);
}

TEST(OnnxLoad, ReadsNodesShapesAndVersions) {
  ModelMaker m(13);
  m.input("x", {"2", "3"}).output("y");
  m.initializer("w", {3, 4}, std::vector<float>(12, 0.5f));
  m.node("MatMul", {"x", "w"}, {"y"}, "product");
  const Graph g = as_in_file(m);
  ASSERT_EQ(g.nodes.size(), 1u);
  EXPECT_EQ(g.nodes[0].name, "product");
  EXPECT_EQ(g.nodes[0].version, 13);
  EXPECT_EQ(g.value(g.outputs[0]).shape, (Shape{2, 4}));
  EXPECT_EQ(value_named(g, "w").constant->as<float>()[11], 0.5f);
}

TEST(OnnxLoad, AnInitializerThatIsAlsoAnInputIsAConstant) {
  ModelMaker m;
  m.input("x", {"2"}).input("w", {"2"}).output("y");
  m.initializer("w", {2}, {1, 2});
  m.node("Add", {"x", "w"}, {"y"});
  EXPECT_EQ(as_in_file(m).inputs.size(), 1u);
}

TEST(OnnxLoad, SortsNodes) {
  ModelMaker m;
  m.input("x", {"2"}).output("y");
  m.node("Relu", {"b"}, {"y"});
  m.node("Exp", {"a"}, {"b"});
  m.node("Neg", {"x"}, {"a"});
  const Graph g = as_in_file(m);
  ASSERT_EQ(g.nodes.size(), 3u);
  EXPECT_EQ(g.nodes[0].op, "Neg");
  EXPECT_EQ(g.nodes[2].op, "Relu");
}

TEST(OnnxLoad, NamesNamelessNodesApart) {
  ModelMaker m;
  m.input("x", {"2"}).output("y");
  m.node("Relu", {"x"}, {"a"}).clear_name();
  m.node("Relu", {"a"}, {"b"}).clear_name();
  m.node("Relu", {"b"}, {"y"}).set_name("Relu_1");
  const Graph g = as_in_file(m);
  EXPECT_NE(g.nodes[0].name, g.nodes[1].name);
  EXPECT_NE(g.nodes[1].name, g.nodes[2].name);
  EXPECT_FALSE(g.nodes[0].name.empty());
}

TEST(OnnxLoad, OneSymbolSetsAllInputs) {
  ModelMaker m;
  m.input("ids", {"batch", "seq"}).input("mask", {"batch", "seq"}).output("y");
  m.node("Add", {"ids", "mask"}, {"y"});
  LoadOptions options;
  options.input_shapes["ids"] = {2, 5};
  const Graph g = load_onnx_bytes(m.bytes(), "", options);
  for (ValueId v : g.inputs) EXPECT_EQ(g.value(v).shape, (Shape{2, 5}));
}

TEST(OnnxLoad, ConstantNodesOfEveryKind) {
  ModelMaker m;
  m.output("i").output("is").output("f").output("fs").output("t");
  set_int(m.node("Constant", {}, {"i"}), "value_int", 7);
  set_ints(m.node("Constant", {}, {"is"}), "value_ints", {1, 2, 3});
  set_float(m.node("Constant", {}, {"f"}), "value_float", 0.5f);
  auto* floats = m.node("Constant", {}, {"fs"}).add_attribute();
  floats->set_name("value_floats");
  floats->set_type(onnx::AttributeProto::FLOATS);
  floats->add_floats(1.5f);
  auto* value = m.node("Constant", {}, {"t"}).add_attribute();
  value->set_name("value");
  value->set_type(onnx::AttributeProto::TENSOR);
  value->mutable_t()->set_data_type(onnx::TensorProto::INT32);
  value->mutable_t()->add_dims(1);
  value->mutable_t()->add_int32_data(-3);
  const Graph g = as_in_file(m);
  EXPECT_TRUE(g.nodes.empty());
  EXPECT_EQ(value_named(g, "i").constant->as<int64_t>()[0], 7);
  EXPECT_EQ(value_named(g, "i").shape, Shape{});
  EXPECT_EQ(to_ints(*value_named(g, "is").constant), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(value_named(g, "f").constant->as<float>()[0], 0.5f);
  EXPECT_EQ(value_named(g, "fs").constant->as<float>()[0], 1.5f);
  EXPECT_EQ(value_named(g, "t").constant->as<int32_t>()[0], -3);
}

TEST(OnnxLoad, InitializersOfEveryType) {
  struct Row {
    int type;
    DType dtype;
    std::function<void(onnx::TensorProto&)> fill;  // with 2 (true for bool)
  };
  using T = onnx::TensorProto;
  const auto ints = [](T& t) { t.add_int32_data(2); };
  const std::vector<Row> rows = {
      {T::FLOAT, DType::kF32, [](T& t) { t.add_float_data(2); }},
      {T::DOUBLE, DType::kF64, [](T& t) { t.add_double_data(2); }},
      {T::INT64, DType::kI64, [](T& t) { t.add_int64_data(2); }},
      {T::UINT64, DType::kU64, [](T& t) { t.add_uint64_data(2); }},
      {T::UINT32, DType::kU32, [](T& t) { t.add_uint64_data(2); }},
      {T::INT32, DType::kI32, ints},
      {T::INT16, DType::kI16, ints},
      {T::INT8, DType::kI8, ints},
      {T::UINT16, DType::kU16, ints},
      {T::UINT8, DType::kU8, ints},
      {T::BOOL, DType::kBool, ints},
      {T::FLOAT16, DType::kF16, [](T& t) { t.add_int32_data(0x4000); }},
      {T::BFLOAT16, DType::kBF16, [](T& t) { t.set_raw_data(std::string("\x00\x40", 2)); }},
      {T::INT16, DType::kI16, [](T& t) { t.set_raw_data(std::string("\x02\x00", 2)); }},
      {T::BOOL, DType::kBool, [](T& t) { t.set_raw_data("\x02"); }},
  };
  for (const Row& row : rows) {
    ModelMaker m;
    auto& t = m.initializer("w", {1}, {});
    t.set_data_type(row.type);
    row.fill(t);
    m.output("w");
    const Graph g = as_in_file(m);
    EXPECT_EQ(g.values[0].dtype, row.dtype);
    EXPECT_EQ(to_doubles(*g.values[0].constant)[0], row.dtype == DType::kBool ? 1 : 2) << name_of(row.dtype);
  }
}

TEST(OnnxLoad, ExternalDataIsReadInPlaceAndWhereItIsUnaligned) {
  const TemporaryFolder dir;
  std::string bytes(64, '\0');
  const float values[2] = {1.25f, -8};
  std::memcpy(bytes.data() + 16, values, 8);
  std::memcpy(bytes.data() + 33, values, 8);
  std::filesystem::create_directory(dir / "weights");
  dir.write("weights/w.bin", bytes);
  ModelMaker m;
  m.external("a", {2}, "weights/w.bin", 16, 8);
  m.external("b", {2}, "weights/w.bin", 33);
  m.output("a").output("b");
  const std::string path = dir.write("m.onnx", m.bytes());
  const Graph g = load_model(path, {});
  for (ValueId v : g.outputs) EXPECT_EQ(to_doubles(*g.value(v).constant), (std::vector<double>{1.25, -8}));
}

TEST(OnnxLoad, WeightsBeyondFourGigabytes) {
  const TemporaryFolder dir;
  constexpr int64_t kOffset = int64_t{5} << 30;
  dir.write("w.bin", "");
  std::filesystem::resize_file(dir / "w.bin", kOffset);  // sparse: takes no room
  const float values[2] = {1.25f, -8};
  std::ofstream(dir / "w.bin", std::ios::binary | std::ios::app).write(reinterpret_cast<const char*>(values), 8);
  ModelMaker m;
  m.external("a", {2}, "w.bin", kOffset, 8);
  m.output("a");
  const Graph g = load_model(dir.write("m.onnx", m.bytes()), {});
  EXPECT_EQ(to_doubles(*g.value(g.outputs[0]).constant), (std::vector<double>{1.25, -8}));
}

TEST(OnnxLoad, InlinesFunctions) {
  ModelMaker m;
  auto* f = m.proto.add_functions();
  f->set_name("ScaledRelu");
  f->set_domain("local");
  f->add_input("in");
  f->add_output("out");
  f->add_attribute("slope");
  auto* opset = f->add_opset_import();
  opset->set_domain("");
  opset->set_version(16);
  auto* slope = ModelMaker::fill(*f->add_node(), "LeakyRelu", {"in"}, {"t"}).add_attribute();
  slope->set_name("alpha");
  slope->set_ref_attr_name("slope");
  slope->set_type(onnx::AttributeProto::FLOAT);
  ModelMaker::fill(*f->add_node(), "Neg", {"t"}, {"out"});
  m.input("x", {"2"}).output("y");
  auto& first = m.node("ScaledRelu", {"x"}, {"a"}, "first");
  first.set_domain("local");
  set_float(first, "slope", 0.25f);
  m.node("ScaledRelu", {"a"}, {"y"}, "second").set_domain("local");
  const Graph g = as_in_file(m);
  ASSERT_EQ(g.nodes.size(), 4u);
  EXPECT_EQ(g.nodes[0].op, "LeakyRelu");
  EXPECT_EQ(g.nodes[0].version, 16);
  EXPECT_EQ(g.nodes[0].attr_float("alpha", -1), 0.25);
  EXPECT_FALSE(g.nodes[2].has("alpha"));  // not given: LeakyRelu's own default
  EXPECT_NE(g.value(g.nodes[0].outputs[0]).name, g.value(g.nodes[2].outputs[0]).name);
}

TEST(OnnxLoad, AFunctionThatHandsItsInputThrough) {
  ModelMaker m;
  auto* f = m.proto.add_functions();
  f->set_name("Nothing");
  f->set_domain("local");
  f->add_input("in");
  f->add_output("in");
  m.input("x", {"2"}).output("y");
  m.node("Nothing", {"x"}, {"y"}).set_domain("local");
  testing::expect_same_meaning(as_in_file(m), load_onnx_bytes(m.bytes(), "", {}));
}

TEST(OnnxLoad, FunctionAttributesHaveDefaults) {
  ModelMaker m;
  auto* f = m.proto.add_functions();
  f->set_name("Leak");
  f->set_domain("local");
  f->add_input("in");
  f->add_output("out");
  auto* opset = f->add_opset_import();
  opset->set_version(17);
  auto* alpha = ModelMaker::fill(*f->add_node(), "LeakyRelu", {"in"}, {"out"}).add_attribute();
  alpha->set_name("alpha");
  alpha->set_ref_attr_name("slope");
  // FunctionProto.attribute_proto (11) is younger than the installed onnx.proto.
  onnx::AttributeProto slope;
  slope.set_name("slope");
  slope.set_type(onnx::AttributeProto::FLOAT);
  slope.set_f(0.75f);
  f->mutable_unknown_fields()->AddLengthDelimited(11, slope.SerializeAsString());
  m.input("x", {"2"}).output("y");
  m.node("Leak", {"x"}, {"y"}).set_domain("local");
  EXPECT_EQ(as_in_file(m).nodes.at(0).attr_float("alpha", -1), 0.75);
}

// A file may end or be damaged anywhere. Whatever comes out is a model or an Error.
class OnnxLoadFuzz : public ::testing::Test {
 protected:
  static std::string small_model() {
    ModelMaker m;
    m.input("x", {"2", "batch"}).output("y");
    m.initializer("w", {3, 2}, {1, 2, 3, 4, 5, 6});
    m.initializer_i64("target", {-1, 3});
    m.node("Transpose", {"x"}, {"t"});
    set_ints(*m.proto.mutable_graph()->mutable_node(0), "perm", {1, 0});
    m.node("Reshape", {"t", "target"}, {"r"});
    m.node("MatMul", {"r", "w"}, {"p"});
    set_int(m.node("Softmax", {"p"}, {"y"}), "axis", -1);
    return m.bytes();
  }
  static bool loads(const std::string& bytes) {
    LoadOptions options;
    options.input_shapes["x"] = {2, 3};
    try {
      load_onnx_bytes(bytes, "/nonexistent", options);
      return true;
    } catch (const Error&) {
      return false;
    }
  }
};

TEST_F(OnnxLoadFuzz, TruncatedAnywhere) {
  const std::string bytes = small_model();
  ASSERT_TRUE(loads(bytes));
  int loaded = 0;
  for (size_t n = 0; n < bytes.size(); ++n) loaded += loads(bytes.substr(0, n));
  EXPECT_EQ(loaded, 0);
}

TEST_F(OnnxLoadFuzz, AnyByteChanged) {
  const std::string bytes = small_model();
  int refused = 0;
  for (size_t n = 0; n < bytes.size(); ++n)
    for (int change : {0x01, 0x80, 0xff, 0x7f, 0x10}) {
      std::string damaged = bytes;
      damaged[n] = static_cast<char>(damaged[n] ^ change);
      refused += !loads(damaged);
    }
  EXPECT_GT(refused, static_cast<int>(bytes.size()));
}

TEST_F(OnnxLoadFuzz, BytesRemovedOrRepeated) {
  const std::string bytes = small_model();
  Random random(5);
  int refused = 0;
  for (int i = 0; i < 500; ++i) {
    std::string damaged = bytes;
    const size_t at = random.below(bytes.size()), count = 1 + random.below(8);
    if (random.below(2)) damaged.erase(at, count);
    else damaged.insert(at, bytes.substr(random.below(bytes.size()), count));
    refused += !loads(damaged);
  }
  EXPECT_GT(refused, 250);
}

}  // namespace
}  // namespace amdahl
