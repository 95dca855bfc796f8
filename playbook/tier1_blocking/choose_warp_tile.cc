// Tiles of tensor cores whose operands are a warp's registers (mma.sync).
#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"
#include "starter_kernels/kinds/kind_names.h"

namespace amdahl {

const Rewrite* choose_warp_tile() {
  static const KnobRewrite rewrite({
      .tier = 1,
      .name = "choose_warp_tile",
      .target = "matmul",
      .precondition = "half floats, FORM 1",
      .backend = "cuda",
      .kinds = {kind::kMatmul},
      .where = {{"FORM", {1}}},
      .open = {"WARPS_M", "WARPS_N", "WARP_M", "WARP_N", "MMA_K", "STAGES"},
  });
  return &rewrite;
}

}  // namespace amdahl
