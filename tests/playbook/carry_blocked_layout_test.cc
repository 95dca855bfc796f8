// The blocked layout carried through a small network with everything that a region meets: an image, pooling, a residual
// sum, depthwise, a gate by channel, an output in the middle, channels that fill no block.

#include <gtest/gtest.h>

#include "graph/op.h"
#include "playbook/playbook.h"
#include "tests/plan/kernel_bench.h"

namespace amdahl {
namespace {

class Network {
 public:
  Network() { graph.name = "network"; }

  ValueId input(const Shape& shape) {
    graph.inputs.push_back(graph.add_value("x", DType::kF32, shape));
    return graph.inputs.back();
  }
  ValueId op(const std::string& name, std::vector<ValueId> inputs, std::map<std::string, Attribute> attributes = {}) {
    Node node;
    node.op = name;
    node.name = fmt::format("{}_{}", name, graph.nodes.size());
    node.version = 17;
    node.attributes = std::move(attributes);
    node.inputs = std::move(inputs);
    node.outputs = {0};
    const auto type = infer_node(graph, node)[0];
    node.outputs = {graph.add_value(node.name, type.dtype, type.shape)};
    graph.nodes.push_back(node);
    return node.outputs[0];
  }
  ValueId conv(ValueId x, int64_t channels, int64_t kernel, int64_t stride, int64_t group = 1) {
    const Shape w{channels, graph.value(x).shape[1] / group, kernel, kernel};
    const int64_t pad = kernel / 2;
    return op("Conv", {x, weight(w), weight({channels})},
              {{"strides", std::vector<int64_t>{stride, stride}},
               {"pads", std::vector<int64_t>{pad, pad, pad, pad}},
               {"group", group}});
  }
  void output(ValueId v) { graph.outputs.push_back(v); }

  Graph graph;

 private:
  ValueId weight(const Shape& shape) {
    Random random(graph.values.size());
    std::vector<double> values(static_cast<size_t>(numel(shape)));
    const double scale = 1 / std::sqrt(static_cast<double>(numel(shape) / shape[0]));
    for (double& v : values) v = scale * random.normal();
    return graph.add_constant(fmt::format("w{}", graph.values.size()), from_doubles(DType::kF32, shape, values));
  }
};

Graph residual_network() {
  Network n;
  ValueId x = n.op("Relu", {n.conv(n.input({1, 3, 20, 18}), 24, 7, 2)});
  x = n.op("MaxPool", {x},
           {{"kernel_shape", std::vector<int64_t>{3, 3}},
            {"strides", std::vector<int64_t>{2, 2}},
            {"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  const ValueId wide = n.op("Relu", {n.conv(x, 40, 1, 1)});
  const ValueId deep = n.op("Relu", {n.conv(wide, 40, 3, 1, 40)});
  const ValueId sum = n.op("Add", {n.conv(deep, 24, 1, 1), x});
  n.output(sum);
  const ValueId next = n.op("Relu", {n.conv(sum, 32, 3, 1)});
  const ValueId gate = n.op("Sigmoid", {n.conv(n.op("GlobalAveragePool", {next}), 32, 1, 1)});
  n.output(n.op("GlobalAveragePool", {n.op("Mul", {next, gate})}));
  return n.graph;
}

std::optional<Match> match_at(const Graph& graph, const Plan& plan, int anchor, std::string* refusal) {
  const Uses uses = uses_of(graph);
  const std::vector<ValueId> storage = storage_of(graph);
  return carry_blocked_layout()->match(RewriteContext::of(graph, plan, this_machine(), uses, storage), anchor, refusal);
}

TEST(CarryBlockedLayout, ComputesTheSameNetwork) {
  const Graph graph = residual_network();
  const Plan plan = starter_plan(graph, 2);
  std::string refusal;
  const auto match = match_at(graph, plan, 0, &refusal);
  ASSERT_TRUE(match) << refusal;
  const Plan carried = replace(graph, plan, match->window, match->replacement);
  ASSERT_EQ(check(graph, carried), "");
  const testing::Judgement j = testing::judge(graph, carried, 3);
  EXPECT_TRUE(j.within) << j.reason;
}

TEST(CarryBlockedLayout, ConvertsOnlyWhereTheRegionEnds) {
  const Graph graph = residual_network();
  const Plan plan = starter_plan(graph, 2);
  std::string refusal;
  const auto match = match_at(graph, plan, 0, &refusal);
  ASSERT_TRUE(match) << refusal;
  EXPECT_EQ(match->window.steps.size(), plan.steps.size());
  // The image is read as it is and the last pooling writes row-major: one conversion, for the output in the middle.
  int conversions = 0;
  for (const Step& step : match->replacement) conversions += step.variant.problem.kind == "reorder";
  EXPECT_EQ(conversions, 1);
}

TEST(CarryBlockedLayout, StartsAtTheFirstConvolutionOnly) {
  const Graph graph = residual_network();
  const Plan plan = starter_plan(graph, 1);
  int matches = 0;
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    std::string refusal;
    if (match_at(graph, plan, static_cast<int>(s), &refusal))
      ++matches;
    else
      EXPECT_NE(refusal, "");
  }
  EXPECT_EQ(matches, 1);
}

TEST(CarryBlockedLayout, IsRefusedWhereItIsInPlace) {
  const Graph graph = residual_network();
  const Plan plan = starter_plan(graph, 1);
  std::string refusal;
  const auto match = match_at(graph, plan, 0, &refusal);
  ASSERT_TRUE(match) << refusal;
  const Plan carried = replace(graph, plan, match->window, match->replacement);
  for (size_t s = 0; s < carried.steps.size(); ++s)
    EXPECT_FALSE(match_at(graph, carried, static_cast<int>(s), &refusal));
}

// F(x) = sigmoid(x) makes zero one half: padding channels would no longer be zero.
TEST(CarryBlockedLayout, LeavesPointwiseStepsOutThatDoNotKeepZero) {
  Network n;
  const ValueId x = n.op("Sigmoid", {n.conv(n.input({1, 20, 6, 6}), 20, 3, 1)});
  n.output(n.conv(x, 20, 3, 1));
  const Plan plan = starter_plan(n.graph, 1);
  std::string refusal;
  const auto match = match_at(n.graph, plan, 0, &refusal);
  ASSERT_TRUE(match) << refusal;
  EXPECT_EQ(match->window.steps, std::vector<int>{0});
  const testing::Judgement j = testing::judge(n.graph, replace(n.graph, plan, match->window, match->replacement), 3);
  EXPECT_TRUE(j.within) << j.reason;
}

}  // namespace
}  // namespace amdahl
