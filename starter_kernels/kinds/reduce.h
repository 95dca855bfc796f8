#pragma once
// What the reduce kind and its implementations share (reduce.cc says what its operands and parameters are).

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

// Whether rows are summed around their maximum, as exponentials are.
inline bool is_shifted_reduction(const Problem& problem) { return problem.params.at("op") == "logsumexp"; }

}  // namespace amdahl
