#pragma once
// The kind "inverted_residual": three convolutions that follow each other on channel blocks, 1x1, depthwise and 1x1, as one kernel.

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

// Their problems as they stood alone, in order.
struct InvertedResidualParams {
  Problem expand, depthwise, project;

  static InvertedResidualParams of(const Problem& problem);
  void write(Problem& problem) const;
};

// The problem that they are together: x, the three weights, then what each reads beside these.
Problem inverted_residual_problem(const Problem& expand, const Problem& depthwise, const Problem& project);

}  // namespace amdahl
