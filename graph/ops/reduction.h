#pragma once
// What a ReduceX node reduces, for shape rules, evaluators and kernels alike.

#include <vector>

#include "graph/graph.h"

namespace amdahl {

// ReduceSum takes its axes as an input since opset 13, the others since 18; before that they are an attribute.
bool axes_are_input(const Node& node);

// The axes as the node writes them, negative ones and all; none where it leaves them out. An input must be a constant.
std::vector<int64_t> axes_of_reduction(const Graph& graph, const Node& node);

// No axes, and noop_with_empty_axes: every element is a row of its own, to which is done what the operator does beside adding. ReduceSumSquare squares it,
// ReduceLogSum takes its logarithm, ReduceL1 and L2 its magnitude; the others leave it as it is.
bool reduces_nothing(const Node& node, const std::vector<int64_t>& axes);

}  // namespace amdahl
