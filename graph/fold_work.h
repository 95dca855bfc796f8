#pragma once
// What evaluating a node would take, before it is done.

#include "graph/graph.h"

namespace amdahl {

// Elements read and written, and products or comparisons of windows and sums: an upper bound, not an estimate.
double fold_work(const Graph& graph, const Node& node);

}  // namespace amdahl
