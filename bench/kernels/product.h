#pragma once
// The matrix product of a gemm-MxNxK kernel: C = A B, row-major; A is the input, B an initializer.

#include "bench/kernels/operands.h"

namespace amdahl {

struct Product {
  int64_t m, n, depth;
  const float* a;
  const float* b;
  float* c;
};

// Points into `operands`. Throws Error for another kernel.
Product product_of(const Operands& operands);

}  // namespace amdahl
