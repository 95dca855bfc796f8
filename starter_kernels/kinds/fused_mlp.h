#pragma once
// The parameters and sizes of a fused_mlp problem (fused_mlp.cc says what its operands are).

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

struct FusedMlpParams {
  PointwiseProgram activation;  // input 0: X W1; input 1, gated: X W_up; the others: Accesses over [M, H]
  bool gated = false;           // there is a second product of the rows, X W_up

  static FusedMlpParams of(const Problem& problem);
  void write(Problem& problem) const;
};

struct MlpSizes {
  int64_t m, k, h, n;
  bool gated;
  explicit MlpSizes(const Problem& p)
      : m(p.out[0].shape[0]), k(p.in[0].shape[1]), h(p.in[1].shape[1]), n(p.out[0].shape[1]), gated(FusedMlpParams::of(p).gated) {}
};

}  // namespace amdahl
