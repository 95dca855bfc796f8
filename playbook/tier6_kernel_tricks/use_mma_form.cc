// Tensor cores fed from a warp's registers, where the form that feeds them from shared memory is in place: its blocks are smaller, and it has no cluster to wait for.
#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"
#include "starter_kernels/kinds/kind_names.h"

namespace amdahl {

const Rewrite* use_mma_form() {
  static const KnobRewrite rewrite({
      .tier = 6,
      .name = "use_mma_form",
      .target = "matmul",
      .precondition = "half floats, either dimension of each operand adjacent in memory",
      .backend = "cuda",
      .kinds = {kind::kMatmul},
      .set = {{"FORM", 1}},
      .open = {"WARPS_M", "WARPS_N", "WARP_M", "WARP_N", "MMA_K", "STAGES"},
      .structural = true,
  });
  return &rewrite;
}

}  // namespace amdahl
