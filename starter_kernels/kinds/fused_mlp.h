#pragma once
// The sizes of a fused_mlp problem (fused_mlp.cc says what its operands are).

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

struct MlpSizes {
  int64_t m, k, h, n;
  bool gated;
  explicit MlpSizes(const Problem& p)
      : m(p.out[0].shape[0]), k(p.in[0].shape[1]), h(p.in[1].shape[1]), n(p.out[0].shape[1]), gated(p.params.value("gated", false)) {}
};

}  // namespace amdahl
