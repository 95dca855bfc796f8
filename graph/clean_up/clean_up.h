#pragma once
// A graph as loaded to one without what costs nothing to leave out.

#include "graph/graph.h"

namespace amdahl {

// Constant folding, identity removal, dead code, equal nodes and constants merged, Flatten/Squeeze/Unsqueeze as
// Reshape, BatchNormalization (inference) as Mul + Add, Einsum of two operands as MatMul, products of the same rows as one
// and a Split. Keeps the meaning of the graph and the names of its inputs and outputs; an output may become a constant.
// Values are renumbered.
void clean_up(Graph& graph);

}  // namespace amdahl
