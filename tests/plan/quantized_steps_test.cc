// What is between a dequantization and a quantization is one step of a starter plan.

#include "plan/quantized_steps.h"

#include <gtest/gtest.h>

#include "starter_kernels/cpu/cpu_target.h"
#include "starter_kernels/examples/example_graph.h"
#include "starter_kernels/kinds/kind_names.h"
#include "tests/plan/kernel_bench.h"

namespace amdahl {
namespace {

ValueId quantized(ExampleGraph& g, ValueId x, double scale, int64_t zero) {
  return g.node("QuantizeLinear", {x, g.floats({}, {scale}), g.ints({}, {zero}, DType::kU8)});
}
ValueId floats_of(ExampleGraph& g, ValueId q, double scale, int64_t zero) {
  return g.node("DequantizeLinear", {q, g.floats({}, {scale}), g.ints({}, {zero}, DType::kU8)});
}
ValueId convolved(ExampleGraph& g, ValueId q, const Shape& weights, uint64_t seed) {
  Shape by_channel(weights.size(), 1);
  by_channel[1] = weights[0];
  const ValueId sums = g.node("Cast", {g.node("ConvInteger", {q, g.bytes(weights, seed)})}, {{"to", int64_t{1}}});
  return g.node("Add", {g.node("Mul", {sums, g.normal(by_channel, seed, 0.001, 0.0001)}), g.normal(by_channel, seed + 1)});
}

void expect_right(const Graph& graph, const Plan& plan, size_t steps) {
  EXPECT_EQ(plan.steps.size(), steps);
  EXPECT_EQ(check(graph, plan), "");
  testing::expect_within({{graph.name, graph, plan, 5}});
}

TEST(QuantizedSteps, AConvolutionEndsWithItsQuantization) {
  ExampleGraph g("one convolution", 21);
  const ValueId x = g.input(DType::kU8, {1, 8, 6, 6});
  const Graph graph = g.finish({quantized(g, g.node("Relu", {convolved(g, x, {12, 8, 1, 1}, 3)}), 0.05, 0)});
  expect_right(graph, starter_plan(graph, 2, cpu_target()), 1);
}

TEST(QuantizedSteps, AResidualIsAddedWhereTheSecondSumIsMade) {
  ExampleGraph g("residual", 21);
  const ValueId x = g.input(DType::kU8, {1, 8, 6, 6});
  const ValueId y = quantized(g, convolved(g, x, {8, 8, 1, 1}, 3), 0.05, 120);
  const ValueId sum = g.node("Relu", {g.node("Add", {floats_of(g, y, 0.05, 120), floats_of(g, x, 0.02, 7)})});
  const Graph graph = g.finish({quantized(g, sum, 0.03, 0)});
  expect_right(graph, starter_plan(graph, 2, cpu_target()), 1);
}

// Its numbers are the model's results: they are written, and read by what follows.
TEST(QuantizedSteps, WhatTheUserReadsStays) {
  ExampleGraph g("read twice", 21);
  const ValueId y = quantized(g, convolved(g, g.input(DType::kU8, {1, 8, 6, 6}), {8, 8, 1, 1}, 3), 0.05, 120);
  const ValueId again = quantized(g, g.node("Relu", {floats_of(g, y, 0.05, 120)}), 0.03, 0);
  const Graph graph = g.finish({y, again});
  expect_right(graph, starter_plan(graph, 2, cpu_target()), 2);
}

TEST(QuantizedSteps, ReadersOfOneDequantizationEachMakeTheirOwn) {
  ExampleGraph g("two readers", 21);
  const ValueId f = floats_of(g, g.input(DType::kU8, {3, 40}), 0.1, 5);
  const Graph graph = g.finish({quantized(g, g.node("Relu", {f}), 0.2, 0), quantized(g, g.node("Neg", {f}), 0.2, 200)});
  const Plan plan = starter_plan(graph, 2, cpu_target());
  expect_right(graph, plan, 2);
  for (const Step& step : plan.steps) EXPECT_EQ(step.variant.problem.in[0].dtype, DType::kU8);
}

TEST(QuantizedSteps, AProductOfRunningScalesWaitsForThem) {
  ExampleGraph g("dynamic", 21);
  const ValueId x = g.input(DType::kU8, {5, 24}), scale = g.input({});
  const ValueId sums = g.node("Cast", {g.node("MatMulInteger", {x, g.bytes({24, 20}, 3)})}, {{"to", int64_t{1}}});
  const ValueId twice = g.node("Add", {scale, scale});
  const Graph graph = g.finish({g.node("Mul", {sums, twice})});
  expect_right(graph, starter_plan(graph, 2, cpu_target()), 2);
}

TEST(QuantizedSteps, PlansOfFloatsStayAsTheyAre) {
  ExampleGraph g("floats", 21);
  const Graph graph = g.finish({g.node("Relu", {g.node("MatMul", {g.input({4, 6}), g.normal({6, 5}, 1)})})});
  EXPECT_EQ(starter_plan(graph, 2, cpu_target()).steps.size(), 2u);
}

}  // namespace
}  // namespace amdahl
