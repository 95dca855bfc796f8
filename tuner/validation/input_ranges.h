#pragma once
// Values that integer inputs may take: positions in the dimension that they select from, else 0 and 1, or any for numbers (plain_numbers.h).

#include <vector>

#include "graph/graph.h"
#include "tuner/validation/inputs.h"

namespace amdahl {

// Of each of `inputs`: the distinct inputs of a window (reference.h), or those of a whole model.
std::vector<InputRange> input_ranges(const Graph& graph, const std::vector<ValueId>& inputs);

}  // namespace amdahl
