#pragma once
// The parameters of a pool problem (pool.cc says what its operands are).

#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/sliding_window.h"

namespace amdahl {

struct PoolParams {
  WindowParams window;
  bool max = false;        // the maximum; else the average
  bool count_pad = false;  // padding is part of an average
  bool global = false;     // the window is a whole plane

  static PoolParams of(const Problem& problem);
  void write(Problem& problem) const;
};

}  // namespace amdahl
