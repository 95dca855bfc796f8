#pragma once
// Integers that are numbers: nothing selects by them, so that a check may give them any value of their type.

#include "graph/graph.h"

namespace amdahl {

// Whether every operator that `value` reaches, as the integers that it is or becomes, is defined for all of them. Sums and products wrap around. False for
// indices, labels, shifts, exponents and divisors.
bool is_plain_number(const Graph& graph, ValueId value);

}  // namespace amdahl
