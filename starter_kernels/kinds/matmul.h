#pragma once
// The parameters and sizes of a matmul problem (matmul.cc says what its operands are).

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

struct MatmulParams {
  double alpha = 1;  // factor of the product, before the epilogue

  static MatmulParams of(const Problem& problem);
  void write(Problem& problem) const;
};

struct MatmulSizes {
  int64_t batch = 1, m = 0, n = 0, k = 0;

  static MatmulSizes of(const Problem& problem) {
    const Shape& c = problem.out[0].shape;
    MatmulSizes s;
    for (size_t i = 0; i + 2 < c.size(); ++i) s.batch *= c[i];
    s.m = c[c.size() - 2];
    s.n = c[c.size() - 1];
    s.k = problem.in[0].shape.back();
    return s;
  }
};

}  // namespace amdahl
