#pragma once
// Constant folding of one node; the loader needs it for shape computations, clean-up for everything else.

#include "graph/graph.h"

namespace amdahl {

// What folding may still cost. A file of a few hundred bytes can ask for any number of large constants, or for days of
// multiplications among them: past the budget a node is left to be computed by a kernel, which is as right.
struct FoldBudget {
  // Grows with the constants that the graph holds already: a large file may fold much.
  explicit FoldBudget(const Graph& graph);
  double bytes, operations;
};

// Sets the `constant` of the node's outputs when they can be known now: all inputs are constants, or the node only asks
// for the shape of its input. Outputs' dtypes and shapes must be set. Refuses (false) to blow small inputs up into
// large constants, and what the budget does not hold. Throws Refusal.
bool fold_node(Graph& graph, const Node& node, FoldBudget& budget);

}  // namespace amdahl
