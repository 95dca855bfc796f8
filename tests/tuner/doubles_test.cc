// Windows of f64 are judged in doubles: what they are given, what they should give, and how far from it they may be.

#include <gtest/gtest.h>

#include <cmath>

#include "plan/plan.h"
#include "starter_kernels/examples/example_graph.h"
#include "tuner/validation/reference.h"

namespace amdahl {
namespace {

// The whole graph as one window.
struct Judged {
  Graph graph;
  WindowIo io;
  Program program;
  Expected expected;

  explicit Judged(Graph g, Distribution distribution = Distribution::kNormal) : graph(std::move(g)) {
    for (size_t n = 0; n < graph.nodes.size(); ++n) io.nodes.push_back(static_cast<NodeId>(n));
    for (ValueId v : graph.inputs) io.inputs.push_back({v, ""});
    for (ValueId v : graph.outputs) io.outputs.push_back({v, ""});
    const Value& out = graph.value(graph.outputs[0]);
    Program::Buffer buffer;
    buffer.name = "y";
    buffer.dtype = out.dtype;
    buffer.shape = out.shape;
    buffer.bytes = size_of(out.dtype) * static_cast<size_t>(numel(out.shape));
    program.buffers = {buffer};
    program.outputs = {0};
    GivenValues given;
    expected = expected_outputs(graph, io, program, {distribution, 3}, std::vector<InputRange>(graph.inputs.size()), {}, given);
  }

  const BoundedFloats<double>& floats() const { return std::get<BoundedFloats<double>>(expected.outputs.at(0).floats); }
  bool accepts(const std::vector<double>& outputs) const { return compare(expected, program, std::as_bytes(std::span(outputs))).within; }
  std::vector<double> rounded_to_floats() const {
    std::vector<double> all = floats().value;
    for (double& v : all) v = static_cast<float>(v);
    return all;
  }
};

Graph unary(const std::string& op, ExampleGraph::Attributes attributes = {}, DType dtype = DType::kF64) {
  ExampleGraph g(op, 17);
  const ValueId x = g.input(dtype, {12, 40});
  return g.finish({g.node(op, {x}, std::move(attributes))});
}

Graph product(DType dtype) {
  ExampleGraph g("product", 17);
  const ValueId a = g.input(dtype, {6, 40}), b = g.input(dtype, {40, 7});
  return g.finish({g.node("MatMul", {a, b})});
}

TEST(Doubles, ResultsRoundedToFloatsAreRefused) {
  const ExampleGraph::Attributes along{{"axes", std::vector<int64_t>{1}}};
  for (const Judged& j :
       {Judged(unary("Relu")), Judged(unary("Exp")), Judged(unary("Softmax", {{"axis", int64_t{1}}})), Judged(unary("LogSoftmax", {{"axis", int64_t{1}}})),
        Judged(unary("ReduceMean", along)), Judged(unary("ReduceL2", along)), Judged(unary("ReduceLogSumExp", along)), Judged(product(DType::kF64))}) {
    const std::string& op = j.graph.nodes[0].op;
    EXPECT_TRUE(j.accepts(j.floats().value)) << op;
    EXPECT_FALSE(j.accepts(j.rounded_to_floats())) << op;
  }
}

// No order of an honest sum is refused: backwards, and in four parts.
TEST(Doubles, SumsInAnyOrderAreAccepted) {
  for (Distribution distribution : {Distribution::kNormal, Distribution::kHeavyTail, Distribution::kAlternate, Distribution::kWide, Distribution::kExponents}) {
    const Judged j(product(DType::kF64), distribution);
    const auto operand = [&](size_t i, Shape shape) {
      std::byte* data;
      Tensor t = Tensor::allocate(DType::kF64, std::move(shape), &data);
      fill_input(data, DType::kF64, t.shape(), {distribution, 3}, static_cast<int>(i), {});
      return to_doubles(t);
    };
    const std::vector<double> a = operand(0, {6, 40}), b = operand(1, {40, 7});
    std::vector<double> backwards(42), in_parts(42);
    for (size_t m = 0; m < 6; ++m)
      for (size_t n = 0; n < 7; ++n) {
        double parts[4] = {};
        for (size_t k = 0; k < 40; ++k) parts[k % 4] += a[m * 40 + k] * b[k * 7 + n];
        in_parts[m * 7 + n] = (parts[0] + parts[1]) + (parts[2] + parts[3]);
        for (size_t k = 40; k-- > 0;) backwards[m * 7 + n] = std::fma(a[m * 40 + k], b[k * 7 + n], backwards[m * 7 + n]);
      }
    EXPECT_TRUE(j.accepts(backwards)) << name_of(distribution);
    EXPECT_TRUE(j.accepts(in_parts)) << name_of(distribution);
  }
}

// By the standard a LayerNormalization computes in fp32 whatever it is given, unless it says otherwise.
TEST(Doubles, LayerNormalizationMayComputeInFloats) {
  const auto layer = [](int64_t stash) {
    ExampleGraph g("layer", 17);
    const ValueId x = g.input(DType::kF64, {6, 40});
    return g.finish({g.node("LayerNormalization", {x, g.normal({40}, 7, 1, 0.1, DType::kF64)}, {{"stash_type", stash}})});
  };
  const Judged in_floats(layer(1)), in_doubles(layer(11));
  EXPECT_TRUE(in_floats.accepts(in_floats.rounded_to_floats()));
  EXPECT_FALSE(in_doubles.accepts(in_doubles.rounded_to_floats()));
}

TEST(Doubles, FloatsTakeHalfOfTheirRoom) {
  EXPECT_EQ(Judged(product(DType::kF64)).expected.bytes(), 2 * 42 * sizeof(double));
  EXPECT_EQ(Judged(product(DType::kF32)).expected.bytes(), 2 * 42 * sizeof(float));
}

}  // namespace
}  // namespace amdahl
