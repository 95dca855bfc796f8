// Weights are stored as the panels that the register tile reads, once at load, instead of at every call. NC then no
// longer bounds anything, so the number of rows and steps in a block is searched again.
#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"

namespace amdahl {

const Rewrite* pack_constant_weights() {
  static const KnobRewrite rewrite({
      .tier = 2,
      .name = "pack_constant_weights",
      .target = "matmul, fused_mlp",
      .precondition = "B is a constant",
      .set = {{"PACK_B", 1}},
      .open = {"KC", "MC"},
      .structural = true,
  });
  return &rewrite;
}

}  // namespace amdahl
