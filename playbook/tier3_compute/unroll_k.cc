// Loop overhead against code size in the innermost loop of a matrix product.
#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"

namespace amdahl {

const Rewrite* unroll_k() {
  static const KnobRewrite rewrite({
      .tier = 3,
      .name = "unroll_k",
      .target = "matmul, attention, fused_mlp, recurrence",
      .precondition = "none",
      .open = {"UNROLL_K"},
  });
  return &rewrite;
}

}  // namespace amdahl
