#pragma once
// The kind "inverted_residual": three convolutions that follow each other on channel blocks, 1x1, depthwise and 1x1, as one kernel.
// params["expand"], ["depthwise"] and ["project"] are their problems as they stood alone.

#include <array>

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

// The three by their parameters, in order, and the problem of one of them.
inline constexpr std::array<const char*, 3> kInvertedResidualParts{"expand", "depthwise", "project"};
inline Problem part_of(const Problem& problem, const char* part) { return problem.params.at(part).get<Problem>(); }

// The problem that they are together: x, the three weights, then what each reads beside these.
Problem inverted_residual_problem(const Problem& expand, const Problem& depthwise, const Problem& project);

}  // namespace amdahl
