// Indices that name nothing, which a model may be given: what a text makes of them is its own affair, but it touches its operands alone. A text without the
// passage that sees to that is a fault.

#include <gtest/gtest.h>

#include "starter_kernels/examples/example_graph.h"
#include "tests/emulated_card/emulated_bench.h"
#include "tests/plan/mutants.h"

namespace amdahl {
namespace {

// What the device says of its fault; "": there was none.
std::string fault_of(const Graph& graph, const Plan& plan, const std::vector<Tensor>& inputs, const testing::KernelBench& bench) {
  std::string why;
  const std::vector<std::string> libraries = testing::libraries_of(plan, bench, &why);
  if (!why.empty()) return why;
  testing::OnDevice on(graph, plan, libraries, inputs, bench);
  try {
    on.executor.run();
    return "";
  } catch (const DeviceFault& fault) {
    return fault.what();
  }
}

// Every integer that the graph is given is this one.
std::vector<Tensor> inputs_of(const Graph& graph, int64_t index) {
  std::vector<Tensor> inputs;
  for (const ValueId input : graph.inputs) {
    const Value& value = graph.value(input);
    if (is_float(value.dtype)) inputs.push_back(testing::random_tensor(value, 1));
    else inputs.push_back(from_ints(value.dtype, value.shape, std::vector<int64_t>(static_cast<size_t>(numel(value.shape)), index)));
  }
  return inputs;
}

void expect_inside(const Graph& graph, const testing::Mutation& careless, const std::vector<int64_t>& indices = {-1000000, 1000000}) {
  const testing::KernelBench& bench = testing::emulated_bench(testing::Generation::kSm90);
  const Plan plan = starter_plan(graph, 1, bench.target());
  const std::optional<Plan> broken = testing::mutated(plan, plan.steps.back().variant.problem.kind, careless, bench.target());
  ASSERT_TRUE(broken) << careless.find;
  for (int64_t index : indices) {
    EXPECT_EQ(fault_of(graph, plan, inputs_of(graph, index), bench), "") << graph.name << " " << index;
    EXPECT_NE(fault_of(graph, *broken, inputs_of(graph, index), bench).find("touches"), std::string::npos) << graph.name << " " << index;
  }
}

TEST(BadIndices, OfAGather) {
  ExampleGraph g("Gather");
  expect_inside(g.finish({g.node("Gather", {g.input({5, 3}), g.input(DType::kI64, {4})}, {{"axis", int64_t{0}}})}),
                {"", "return i < 0 ? 0 : i >= size ? size - 1 : i;", "return i;"});
}

TEST(BadIndices, OfElementsAndSlices) {
  const testing::Mutation careless{"", "return index < 0 ? 0 : index >= size ? size - 1 : index;", "return index;"};
  ExampleGraph elements("GatherElements");
  expect_inside(elements.finish({elements.node("GatherElements", {elements.input({5, 3}), elements.input(DType::kI64, {2, 3})})}), careless);
  ExampleGraph slices("GatherND");
  expect_inside(slices.finish({slices.node("GatherND", {slices.input({5, 3}), slices.input(DType::kI64, {4, 1})})}), careless);
  for (const char* reduction : {"none", "add"}) {
    ExampleGraph to("ScatterElements");
    const ValueId to_elements =
        to.node("ScatterElements", {to.input({5, 3}), to.input(DType::kI64, {2, 3}), to.input({2, 3})}, {{"reduction", std::string(reduction)}});
    expect_inside(to.finish({to_elements}), careless);
    ExampleGraph nd("ScatterND");
    const ValueId to_slices =
        nd.node("ScatterND", {nd.input({5, 3}), nd.input(DType::kI64, {4, 1}), nd.input({4, 3})}, {{"reduction", std::string(reduction)}});
    expect_inside(nd.finish({to_slices}), careless);
  }
}

TEST(BadIndices, OfImages) {
  ExampleGraph g("RoiAlign");
  const ExampleGraph::Attributes attributes{{"coordinate_transformation_mode", std::string("output_half_pixel")}, {"sampling_ratio", int64_t{2}}};
  expect_inside(g.finish({g.node("RoiAlign", {g.input({2, 3, 9, 8}), g.input({8, 4}), g.input(DType::kI64, {8})}, attributes)}),
                {"", "return index < 0 ? 0 : index >= size ? size - 1 : index;", "return index;"});
}

TEST(BadIndices, OfLengths) {
  ExampleGraph g("ReverseSequence");
  const Graph graph =
      g.finish({g.node("ReverseSequence", {g.input({4, 3, 2}), g.input(DType::kI64, {3})}, {{"time_axis", int64_t{0}}, {"batch_axis", int64_t{1}}})});
  expect_inside(graph, {"", "length = length < 0 ? 0 : length > steps ? steps : length;", ""}, {1000000});
}

TEST(BadIndices, OfClasses) {
  ExampleGraph g("SoftmaxCrossEntropyLoss");
  const ValueId weights = g.node("Abs", {g.input({7})});
  expect_inside(g.finish({g.node("SoftmaxCrossEntropyLoss", {g.input({5, 7}), g.input(DType::kI64, {5}), weights})}),
                {"", "valid = label >= 0 && label < J;", "valid = true;"});
}

}  // namespace
}  // namespace amdahl
