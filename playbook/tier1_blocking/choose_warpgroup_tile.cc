// Tiles of tensor cores that read shared memory (wgmma), and how many blocks share the steps of K of one: at few rows the card is filled by splitting K.
#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"
#include "starter_kernels/kinds/kind_names.h"

namespace amdahl {

const Rewrite* choose_warpgroup_tile() {
  static const KnobRewrite rewrite({
      .tier = 1,
      .name = "choose_warpgroup_tile",
      .target = "matmul, conv",
      .precondition = "half floats, FORM 3 or 4",
      .backend = "cuda",
      .kinds = {kind::kMatmul, kind::kConv},
      .where = {{"FORM", {3, 4}}},
      .open = {"WARPGROUPS", "WGMMA_N", "SPLIT_K"},
  });
  return &rewrite;
}

}  // namespace amdahl
