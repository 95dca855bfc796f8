#pragma once
// The parameters of a softmax problem (softmax.cc says what its operands are).

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

struct SoftmaxParams {
  int64_t axis = 0;  // along which sums are one, counted from the front
  bool log = false;  // the logarithm is wanted

  static SoftmaxParams of(const Problem& problem);
  void write(Problem& problem) const;
};

}  // namespace amdahl
