#pragma once
// Which values have zeros whose sign is decided.
//
// +0 and -0 are equal, but 1/x and atan2 tell them apart. Operators that copy, round to whole numbers or take one of their operands leave no choice: Ceil of
// -0.5 is -0, Relu of -1 is +0. Sums may be made in any order and contracted, so that theirs is not asked. Where such an operator itself leaves the sign
// open (Relu of -0, the larger of two zeros), the oracle's bound is kEitherZero; where it is 0, bits are asked.

#include <vector>

#include "graph/graph.h"

namespace amdahl {

// Of a value that `nodes` compute, or that is given to them.
bool zero_signs_decided(const Graph& graph, const std::vector<NodeId>& nodes, ValueId value);

}  // namespace amdahl
