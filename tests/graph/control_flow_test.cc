// If, Loop and Scan on their way into a Graph that has none: which nodes stand for them, and what these compute.

#include <gtest/gtest.h>

#include <tuple>

#include "base/error.h"
#include "graph/onnx/onnx_load.h"
#include "graph/oracle.h"
#include "tests/graph/model_maker.h"

namespace amdahl {
namespace {

using testing::ModelMaker;

onnx::GraphProto& body(onnx::NodeProto& node, const char* name) {
  auto* a = node.add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::GRAPH);
  return *a->mutable_g();
}

onnx::NodeProto& in(onnx::GraphProto& graph, const std::string& op, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  return ModelMaker::fill(*graph.add_node(), op, inputs, outputs);
}

std::vector<std::string> operators_of(const Graph& graph) {
  std::vector<std::string> all;
  for (const Node& node : graph.nodes) all.push_back(node.op);
  return all;
}

RefTensor tensor(DType dtype, Shape shape, std::vector<double> values) {
  return RefTensor::of(is_float(dtype) ? from_doubles(dtype, std::move(shape), values) : from_ints(dtype, std::move(shape), {values.begin(), values.end()}));
}

// The first output, for these inputs.
RefTensor result(const Graph& graph, const std::vector<RefTensor>& inputs) {
  std::map<ValueId, RefTensor> given;
  for (size_t i = 0; i < inputs.size(); ++i) given[graph.inputs[i]] = inputs[i];
  std::vector<NodeId> nodes;
  for (size_t n = 0; n < graph.nodes.size(); ++n) nodes.push_back(static_cast<NodeId>(n));
  return evaluate(graph, nodes, given, {graph.outputs[0]}, false).at(graph.outputs[0]);
}

// x with a relu in one branch and its negative in the other, and an If that reads `condition`.
ModelMaker either(const std::string& condition) {
  ModelMaker m;
  m.input("x", {"3"}).output("y");
  auto& node = m.node("If", {condition}, {"y"}, "choice");
  onnx::GraphProto &then = body(node, "then_branch"), &otherwise = body(node, "else_branch");
  in(then, "Relu", {"x"}, {"a"});
  then.add_output()->set_name("a");
  in(otherwise, "Neg", {"x"}, {"a"});
  otherwise.add_output()->set_name("a");
  return m;
}

TEST(ControlFlow, ABranchThatIsKnownStandsInThePlaceOfItsIf) {
  for (const bool taken : {true, false}) {
    ModelMaker m = either("condition");
    auto& condition = m.initializer("condition", {1}, {});
    condition.set_data_type(onnx::TensorProto::BOOL);
    condition.add_int32_data(taken);
    const Graph graph = loaded(m);
    EXPECT_EQ(operators_of(graph), std::vector<std::string>{taken ? "Relu" : "Neg"});
    EXPECT_EQ(graph.value(graph.outputs[0]).name, "y");
  }
}

TEST(ControlFlow, AConditionOnShapesIsKnown) {
  ModelMaker m = either("long");
  m.node("Shape", {"x"}, {"shape"});
  m.initializer_i64("two", {2});
  m.node("Greater", {"shape", "two"}, {"long"});
  EXPECT_EQ(operators_of(loaded(m)), std::vector<std::string>{"Relu"});
}

TEST(ControlFlow, WhereTheDataDecideBothAreComputedAndOneIsTaken) {
  ModelMaker m = either("condition");
  m.input("condition", {"1"}, onnx::TensorProto::BOOL);
  const Graph graph = loaded(m);
  for (const bool taken : {true, false}) {
    const RefTensor y = result(graph, {tensor(DType::kF32, {3}, {-1, 0, 2}), tensor(DType::kBool, {1}, {double(taken)})});
    EXPECT_EQ(y.value, taken ? (std::vector<double>{0, 0, 2}) : (std::vector<double>{1, 0, -2}));
  }
}

// --value condition=1
TEST(ControlFlow, AnInputThatAlwaysHoldsOneNumberDecidesABranch) {
  ModelMaker m = either("condition");
  m.input("condition", {"1"}, onnx::TensorProto::BOOL);
  LoadOptions options;
  options.values["condition"] = 1;
  const Graph graph = load_onnx_bytes(m.bytes(), "", options);
  EXPECT_EQ(operators_of(graph), std::vector<std::string>{"Relu"});
  ASSERT_EQ(graph.inputs.size(), 1u);
  ASSERT_EQ(graph.fixed_inputs.size(), 1u);
  EXPECT_EQ(graph.fixed_inputs[0].name, "condition");
  EXPECT_EQ(to_ints(graph.fixed_inputs[0].tensor), std::vector<int64_t>{1});
}

TEST(ControlFlow, ANumberThatAnInputCannotHoldIsRefused) {
  ModelMaker m = either("condition");
  m.input("condition", {"1"}, onnx::TensorProto::BOOL);
  for (const auto& [name, value, why] : {std::tuple("condition", 0.5, "whole numbers"), std::tuple("condition", 7.0, "does not hold"),
                                         std::tuple("other", 1.0, "its inputs are: x, condition")}) {
    LoadOptions options;
    options.values[name] = value;
    try {
      load_onnx_bytes(m.bytes(), "", options);
      ADD_FAILURE() << why;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::kUsage);
      EXPECT_NE(std::string(e.what()).find(why), std::string::npos) << e.what();
    }
  }
}

// A branch that would read beside a table is not computed when the other is taken.
TEST(ControlFlow, IndicesThatOnlyOneBranchMayHoldAreRefused) {
  ModelMaker m;
  m.input("x", {"3"}).input("at", {"1"}, onnx::TensorProto::INT64).input("condition", {}, onnx::TensorProto::BOOL).output("y");
  auto& node = m.node("If", {"condition"}, {"y"}, "choice");
  onnx::GraphProto &then = body(node, "then_branch"), &otherwise = body(node, "else_branch");
  in(then, "Gather", {"x", "at"}, {"a"});
  then.add_output()->set_name("a");
  in(otherwise, "ReduceMax", {"x"}, {"a"});
  otherwise.add_output()->set_name("a");
  try {
    loaded(m);
    FAIL();
  } catch (const std::exception& e) {
    EXPECT_NE(std::string(e.what()).find("(Gather) in a branch reads at places that may depend on it"), std::string::npos) << e.what();
  }
}

// v = x; for i in 0..2: v = v * v + i, keeping each step.
ModelMaker loop() {
  ModelMaker m;
  m.input("x", {"2"}).output("steps").output("last");
  m.initializer_i64("count", {3});
  auto& node = m.node("Loop", {"count", "", "x"}, {"last", "steps"}, "loop");
  onnx::GraphProto& b = body(node, "body");
  for (const char* name : {"i", "go", "v"}) b.add_input()->set_name(name);
  in(b, "Mul", {"v", "v"}, {"square"});
  auto& cast = in(b, "Cast", {"i"}, {"number"});
  testing::set_int(cast, "to", onnx::TensorProto::FLOAT);
  in(b, "Add", {"square", "number"}, {"next"});
  in(b, "Identity", {"next"}, {"kept"});
  for (const char* name : {"go", "next", "kept"}) b.add_output()->set_name(name);
  return m;
}

TEST(ControlFlow, ALoopOfKnownCountIsWrittenOut) {
  const Graph graph = loaded(loop());
  const RefTensor steps = result(graph, {tensor(DType::kF32, {2}, {2, -1})});
  EXPECT_EQ(steps.shape, (Shape{3, 2}));
  EXPECT_EQ(steps.value, (std::vector<double>{4, 1, 17, 2, 291, 6}));
  EXPECT_EQ(graph.value(graph.outputs[1]).name, "last");
}

TEST(ControlFlow, ALoopEndsWhereItsConditionSaysSo) {
  ModelMaker m;
  m.input("x", {"1"}).output("y");
  auto& node = m.node("Loop", {"", "", "x"}, {"y"}, "loop");
  onnx::GraphProto& b = body(node, "body");
  for (const char* name : {"i", "go", "v"}) b.add_input()->set_name(name);
  auto* two = b.add_initializer();
  two->set_name("two");
  two->set_data_type(onnx::TensorProto::INT64);
  two->add_int64_data(2);
  in(b, "Less", {"i", "two"}, {"more"});
  in(b, "Add", {"v", "v"}, {"twice"});
  for (const char* name : {"more", "twice"}) b.add_output()->set_name(name);
  EXPECT_EQ(result(loaded(m), {tensor(DType::kF32, {1}, {1})}).value, std::vector<double>{8});
}

TEST(ControlFlow, AScanWalksAlongItsAxesInBothDirections) {
  ModelMaker m;
  m.input("start", {"2"}).input("x", {"2", "3"}).output("sums");
  auto& node = m.node("Scan", {"start", "x"}, {"end", "sums"}, "scan");
  testing::set_int(node, "num_scan_inputs", 1);
  testing::set_ints(node, "scan_input_axes", {1});
  testing::set_ints(node, "scan_input_directions", {1});
  testing::set_ints(node, "scan_output_axes", {-1});
  testing::set_ints(node, "scan_output_directions", {1});
  onnx::GraphProto& b = body(node, "body");
  for (const char* name : {"sum", "column"}) b.add_input()->set_name(name);
  in(b, "Add", {"sum", "column"}, {"next"});
  in(b, "Identity", {"next"}, {"kept"});
  for (const char* name : {"next", "kept"}) b.add_output()->set_name(name);
  const RefTensor sums = result(loaded(m), {tensor(DType::kF32, {2}, {0, 100}), tensor(DType::kF32, {2, 3}, {1, 2, 3, 10, 20, 30})});
  EXPECT_EQ(sums.shape, (Shape{2, 3}));
  EXPECT_EQ(sums.value, (std::vector<double>{6, 5, 3, 160, 150, 130}));  // from the last column, and put together from the last
}

TEST(ControlFlow, FunctionsCalledInABranchReadWhatStandsAroundThem) {
  ModelMaker m = either("condition");
  auto& condition = m.initializer("condition", {}, {});
  condition.set_data_type(onnx::TensorProto::BOOL);
  condition.add_int32_data(1);
  onnx::GraphProto& then = *m.proto.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  in(then, "Scaled", {"a"}, {"b"}).set_domain("local");
  then.mutable_output(0)->set_name("b");
  auto* f = m.proto.add_functions();
  f->set_name("Scaled"), f->set_domain("local"), f->add_input("v"), f->add_output("w");
  *f->add_opset_import() = m.proto.opset_import(0);
  ModelMaker::fill(*f->add_node(), "Add", {"v", "v"}, {"w"});
  EXPECT_EQ(operators_of(loaded(m)), (std::vector<std::string>{"Relu", "Add"}));
}

// A function whose body has an If that reads what the function named, with an attribute of the call inside.
TEST(ControlFlow, BranchesInFunctionsSeeTheFunctionsValuesAndAttributes) {
  ModelMaker m;
  m.input("v", {"2"}).output("y");
  auto& call = m.node("Leak", {"v"}, {"y"}, "call");
  call.set_domain("local");
  testing::set_float(call, "slope", 0.5f);
  auto* f = m.proto.add_functions();
  f->set_name("Leak"), f->set_domain("local"), f->add_input("x"), f->add_output("z"), f->add_attribute("slope");
  *f->add_opset_import() = m.proto.opset_import(0);
  ModelMaker::fill(*f->add_node(), "Add", {"x", "x"}, {"v"});  // the name of the model's input: another value
  ModelMaker::fill(*f->add_node(), "ReduceMax", {"v"}, {"most"});
  ModelMaker::fill(*f->add_node(), "Less", {"most", "most"}, {"never"});
  auto& choice = ModelMaker::fill(*f->add_node(), "If", {"never"}, {"z"});
  onnx::GraphProto &then = body(choice, "then_branch"), &otherwise = body(choice, "else_branch");
  in(then, "Relu", {"v"}, {"r"});
  then.add_output()->set_name("r");
  auto* slope = in(otherwise, "LeakyRelu", {"v"}, {"r"}).add_attribute();
  slope->set_name("alpha"), slope->set_ref_attr_name("slope"), slope->set_type(onnx::AttributeProto::FLOAT);
  otherwise.add_output()->set_name("r");
  EXPECT_EQ(result(loaded(m), {tensor(DType::kF32, {2}, {-1, 3})}).value, (std::vector<double>{-1, 6}));
}

}  // namespace
}  // namespace amdahl
