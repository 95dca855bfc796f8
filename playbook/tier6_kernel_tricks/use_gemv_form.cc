// At most eight rows: the product is a reading of B, where it is or, if it is constant, as panels of a cache line; in several streams at once.
#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"
#include "starter_kernels/kinds/kind_names.h"

namespace amdahl {

const Rewrite* use_gemv_form() {
  static const KnobRewrite rewrite({
      .tier = 6,
      .name = "use_gemv_form",
      .target = "matmul",
      .precondition = "at most 8 rows, rows or columns of B contiguous",
      .kinds = {kind::kMatmul},
      .set = {{"GEMV", 1}, {"SPLIT_K", 1}},
      .open = {"PACK_B", "VLEN", "UNROLL_K", "TASKS"},
      .structural = true,
  });
  return &rewrite;
}

}  // namespace amdahl
