#pragma once
// Two products that are worth a node each, with short steps around them: three parts.

#include "starter_kernels/examples/example_graph.h"

namespace amdahl::testing {

inline Graph products_and_short_steps() {
  ExampleGraph g("parts");
  const ValueId h = g.node("MatMul", {g.input({512, 1024}), g.normal({1024, 1536}, 1)});
  const ValueId s = g.node("Relu", {h});
  const ValueId y = g.node("MatMul", {g.node("Reshape", {s, g.ints({2}, {768, 1024})}), g.normal({1024, 1024}, 2)});
  const ValueId sum = g.node("Add", {g.node("Neg", {y}), g.node("Reshape", {h, g.ints({2}, {768, 1024})})});
  return g.finish({s, g.node("Abs", {sum})});
}

}  // namespace amdahl::testing
