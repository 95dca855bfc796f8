#pragma once
// What evaluating a node would take, before it is done: upper bounds, not estimates.

#include "graph/graph.h"

namespace amdahl {

struct FoldCost {
  double operations;  // elements read and written, and products or comparisons of windows and sums
  double bytes;       // of float64 copies: all inputs, each time one is read, all outputs, and what lies between
};
FoldCost fold_cost(const Graph& graph, const Node& node);

}  // namespace amdahl
