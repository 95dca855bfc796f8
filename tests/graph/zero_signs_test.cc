// Which zeros have a sign, and where sums may be infinite in one order and not in another.

#include "graph/zero_signs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "graph/oracle.h"

namespace amdahl {
namespace {

Graph graph_of(const std::string& op, const Shape& shape, size_t inputs, const Shape& out) {
  Graph g;
  Node node;
  node.op = op;
  node.version = 13;
  for (size_t i = 0; i < inputs; ++i) node.inputs.push_back(g.add_value("x" + std::to_string(i), DType::kF32, shape));
  node.outputs = {g.add_value("y", DType::kF32, out)};
  g.inputs = node.inputs;
  g.outputs = node.outputs;
  g.nodes.push_back(node);
  return g;
}

RefTensor result(const Graph& g, const std::vector<std::vector<double>>& values) {
  RefValues given;
  for (size_t i = 0; i < values.size(); ++i) given[g.inputs[i]] = RefTensor::of(from_doubles(DType::kF32, g.value(g.inputs[i]).shape, values[i]));
  return evaluate(g, {0}, given, g.outputs, true).at(g.outputs[0]);
}

TEST(ZeroSigns, OnesWhereTheOperatorLeavesNoChoice) {
  for (const char* op : {"Relu", "Floor", "Neg", "Identity", "Sqrt"}) EXPECT_TRUE(zero_signs_decided(graph_of(op, {2}, 1, {2}), {0}, 1)) << op;
  for (const char* op : {"Add", "MatMul", "Sub"}) EXPECT_FALSE(zero_signs_decided(graph_of(op, {2, 2}, 2, {2, 2}), {0}, 2)) << op;
}

TEST(ZeroSigns, ReluOfMinusOneIsPlusZeroAndOfMinusZeroEither) {
  const RefTensor y = result(graph_of("Relu", {3}, 1, {3}), {{-1, -0.0, 0}});
  EXPECT_EQ(y.bound_at(0), 0);
  EXPECT_GT(y.bound_at(1), 0);
  EXPECT_LT(y.bound_at(1), 1e-300);
  EXPECT_EQ(y.bound_at(2), 0);
  EXPECT_FALSE(std::signbit(y.value[0]));
}

TEST(ZeroSigns, TheLargerOfTwoZerosIsEither) {
  const RefTensor y = result(graph_of("Max", {2}, 2, {2}), {{0.0, -0.0}, {-0.0, -0.0}});
  EXPECT_GT(y.bound_at(0), 0);
  EXPECT_EQ(y.bound_at(1), 0);
  EXPECT_TRUE(std::signbit(y.value[1]));
}

// 3e38 + 3e38 - 3e38 is 3e38 or infinity.
TEST(OpenSums, AnyOrderMayOverflow) {
  const RefTensor y = result(graph_of("MatMul", {2, 2}, 2, {2, 2}), {{3e38, -3e38, 1, 2}, {1, 1, 1, 1}});
  EXPECT_EQ(y.bound_at(0), HUGE_VAL);
  EXPECT_LT(y.bound_at(2), 1e-5);
}

}  // namespace
}  // namespace amdahl
