// References share the weights of their window, and nothing else: whatever came before, they are those of a fresh start.

#include <gtest/gtest.h>

#include "tests/tuner/simulated_trials.h"
#include "tuner/validation/reference.h"

namespace amdahl {
namespace {

// Product `node` of the chain.
WindowIo window_of(const Graph& graph, int node) {
  const Node& product = graph.nodes[static_cast<size_t>(node)];
  WindowIo io;
  io.nodes = {node};
  io.inputs = {{product.inputs[0], ""}};
  io.constants = {product.inputs[1]};
  io.outputs = {{product.outputs[0], ""}};
  return io;
}

Program program_of(double mean) {
  Program p;
  Program::Buffer weight;
  weight.name = "w";
  weight.shape = {64, 64};
  weight.role = Program::Role::kConstant;
  weight.bytes = 64 * 64 * sizeof(float);
  weight.source = 0;
  weight.mean = mean;
  weight.deviation = 1;
  p.buffers = {weight};
  return p;
}

TEST(GivenValues, AreThoseOfTheDrawWhateverWasDrawnBefore) {
  const Graph graph = testing::chain_of_matmuls(2);
  Draw normal{Distribution::kNormal, 3, 5}, needle{Distribution::kNeedle, 4, 5}, other_weights{Distribution::kNormal, 3, 6}, perturbed = normal;
  perturbed.perturbed = true;
  Draw integers{Distribution::kInteger, 3, 5};
  integers.ternary = true;
  Draw roles_swapped = integers;
  roles_swapped.roles_swapped = true;
  Draw narrower = roles_swapped;
  narrower.integer_bits = 8;
  struct Case {
    int node;
    double mean;
    Draw draw;
  };
  GivenValues shared;
  for (const Case& c : {Case{0, 0, normal},
                        {0, 0, needle},
                        {0, 0, perturbed},
                        {0, 0, integers},
                        {0, 0, roles_swapped},
                        {0, 0, narrower},
                        {0, 0, normal},
                        {0, 0, other_weights},
                        {0, 0.5, other_weights},
                        {1, 0.5, other_weights},
                        {0, 0.5, other_weights}}) {
    const WindowIo io = window_of(graph, c.node);
    const Program program = program_of(c.mean);
    GivenValues fresh;
    const Expected want = expected_outputs(graph, io, program, c.draw, {{}}, {}, fresh), got = expected_outputs(graph, io, program, c.draw, {{}}, {}, shared);
    const auto &has = std::get<BoundedFloats<float>>(got.outputs.at(0).floats), &should = std::get<BoundedFloats<float>>(want.outputs.at(0).floats);
    EXPECT_EQ(has.value, should.value) << name_of(c.draw.distribution) << " of product " << c.node;
    EXPECT_EQ(has.bound, should.bound);
  }
}

}  // namespace
}  // namespace amdahl
