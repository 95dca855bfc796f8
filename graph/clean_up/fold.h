#pragma once
// Constant folding of one node; the loader needs it for shape computations, clean-up for everything else.

#include "graph/graph.h"

namespace amdahl {

// What folding may still cost. A file of a few hundred bytes can ask for any number of large constants, each twice the last, or
// for days of multiplications among them: past the budget a node is left to be computed by a kernel, which is as right.
struct FoldBudget {
  // Grows with the bytes of constants that the file really holds: a large file may fold much.
  explicit FoldBudget(const Graph& graph);
  double bytes;       // of all results together
  double working;     // of one evaluation, which copies what it reads and writes into float64
  double operations;  // of all evaluations together
};

// Sets the `constant` of the node's outputs when they can be known now: all inputs are constants, or the node only asks
// for the shape of its input. Outputs' dtypes and shapes must be set. Refuses (false) what the budget does not hold. Throws Refusal.
bool fold_node(Graph& graph, const Node& node, FoldBudget& budget);

}  // namespace amdahl
