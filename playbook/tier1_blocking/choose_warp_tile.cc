// Tiles of tensor cores whose operands are a warp's registers (mma.sync).
#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"
#include "starter_kernels/kinds/kind_names.h"

namespace amdahl {

const Rewrite* choose_warp_tile() {
  static const KnobRewrite rewrite({
      .tier = 1,
      .name = "choose_warp_tile",
      .target = "matmul, conv",
      .precondition = "half floats, FORM 1; a convolution of an image, FORM 6",
      .backend = "cuda",
      .kinds = {kind::kMatmul, kind::kConv},
      .where = {{"FORM", {1, 6}}},
      .open = {"WARPS_M", "WARPS_N", "WARP_M", "WARP_N", "MMA_K", "STAGES", "IMAGE_WARPS", "ROWS_OF_WARP", "TILE_O"},
  });
  return &rewrite;
}

}  // namespace amdahl
