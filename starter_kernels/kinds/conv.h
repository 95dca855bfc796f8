#pragma once
// The parameters of a conv problem (conv.cc says what its operands are).

#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/sliding_window.h"

namespace amdahl {

struct ConvParams {
  WindowParams window;
  int64_t group = 1;        // groups of channels that do not see each other
  bool transposed = false;  // a ConvTranspose

  static ConvParams of(const Problem& problem);
  void write(Problem& problem) const;
};

}  // namespace amdahl
