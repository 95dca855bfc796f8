#pragma once
// If, Loop and Scan. A Graph has no control flow: a branch that is known now stands in the place of its If, and loops whose count is known are written
// out. Where only the data say which branch it is, both are computed and one is taken.

#include "graph/onnx/inference.h"

namespace amdahl {

bool is_control_flow(const ParsedNode& node);

// Adds what `parsed` stands for and returns its outputs. `node` has its inputs and its unique name. Throws Refusal.
std::vector<ValueId> add_control_flow(Inference& inference, const ParsedNode& parsed, const Node& node, const Scope& scope);

}  // namespace amdahl
