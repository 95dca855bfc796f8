// Warps of a block that multiplies few rows, and what each has of the constant on its way or in registers: enough bytes on their way to be at memory's speed,
// and few enough sums to add.
#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"
#include "starter_kernels/kinds/kind_names.h"

namespace amdahl {

const Rewrite* choose_row_warps() {
  static const KnobRewrite rewrite({
      .tier = 1,
      .name = "choose_row_warps",
      .target = "matmul",
      .precondition = "at most eight rows, FORM 2 or 5",
      .backend = "cuda",
      .kinds = {kind::kMatmul},
      .where = {{"FORM", {2, 5}}},
      .open = {"WARPS", "HELD", "UNROLL"},
  });
  return &rewrite;
}

}  // namespace amdahl
