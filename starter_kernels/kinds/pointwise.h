#pragma once
// The parameters of a pointwise problem (pointwise.cc says what its operands are), scalar programs of the graph's pointwise operators, and their composition.

#include <string>
#include <vector>

#include "graph/graph.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {

struct PointwiseParams {
  PointwiseProgram program;  // of in[0 …], its results are out[0 …]

  static PointwiseParams of(const Problem& problem);
  void write(Problem& problem) const;
};

DType type_of_value(const PointwiseProgram& program, int value);

// The program of one pointwise graph operator (lower-cased ONNX name, with its attributes), or an empty one when the
// operator is not pointwise. Scalar constants become "const" ops; the program's inputs are the node's other inputs, in
// order (`program_inputs`), each broadcast to the output's shape. One result.
PointwiseProgram program_of(const Graph& graph, const Node& node);
std::vector<int32_t> program_inputs(const Graph& graph, const Node& node);  // ValueIds; empty when not pointwise

// f after g: `outer` with its input number `slot` replaced by `inner`'s (single) result. Inputs of the composition: outer's
// other inputs in order, with inner's inputs in place of the slot.
PointwiseProgram compose(const PointwiseProgram& outer, int slot, const PointwiseProgram& inner);

}  // namespace amdahl
