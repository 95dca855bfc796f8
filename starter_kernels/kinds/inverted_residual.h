#pragma once
// The kind "inverted_residual": three convolutions that follow each other on channel blocks, 1x1, depthwise and 1x1, as one kernel
// (cpu/inverted_residual.cpp). params["expand"], ["depthwise"] and ["project"] are their problems as they stood alone.

#include <string>

#include "starter_kernels/kinds/kernel_kind.h"

namespace amdahl {

// Why these three, each reading what the one before it writes, are no such block, or "".
std::string refused_as_inverted_residual(const Problem& expand, const Problem& depthwise, const Problem& project);

// The problem that they are together: x, the three weights, then what each reads beside these.
Problem inverted_residual_problem(const Problem& expand, const Problem& depthwise, const Problem& project);

}  // namespace amdahl
