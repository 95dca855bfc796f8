#pragma once
// Constant folding of one node; the loader needs it for shape computations, clean-up for everything else.

#include "graph/graph.h"

namespace amdahl {

// Sets the `constant` of the node's outputs when they can be known now: all inputs are constants, or the node only asks
// for the shape of its input. Outputs' dtypes and shapes must be set. Refuses (false) to blow small inputs up into
// large constants. Throws Refusal.
bool fold_node(Graph& graph, const Node& node);

}  // namespace amdahl
