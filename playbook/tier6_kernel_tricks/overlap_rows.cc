// A row is summed, then written; memory is read while it is summed and written while it is written. Where rows come from memory and go
// there, summing the next one meanwhile keeps both at work all the time.
#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"
#include "starter_kernels/kinds/kind_names.h"

namespace amdahl {

const Rewrite* overlap_rows() {
  static const KnobRewrite rewrite({
      .tier = 6,
      .name = "overlap_rows",
      .target = "layernorm, rmsnorm",
      .precondition = "rows are read where they lie and written along memory",
      .kinds = {kind::kLayerNorm, kind::kRmsNorm},
      .set = {{"OVERLAP", 1}},
  });
  return &rewrite;
}

}  // namespace amdahl
