#pragma once
// The sizes of an attention problem (attention.cc says what its operands are).

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

struct AttentionSizes {
  int64_t batch, heads, queries, keys, width, value_width;
  bool causal;
  explicit AttentionSizes(const Problem& p)
      : batch(p.out[0].shape[0]),
        heads(p.out[0].shape[1]),
        queries(p.out[0].shape[2]),
        keys(p.in[1].shape[2]),
        width(p.in[0].shape[3]),
        value_width(p.out[0].shape[3]),
        causal(p.params.value("causal", false)) {}
};

}  // namespace amdahl
