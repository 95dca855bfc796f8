// A transpose in square blocks uses the whole of each cache line it fetches.
#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"
#include "starter_kernels/kinds/kind_names.h"

namespace amdahl {

const Rewrite* transpose_in_blocks() {
  static const KnobRewrite rewrite({
      .tier = 2,
      .name = "transpose_in_blocks",
      .target = "movement",
      .precondition = "a copy that transposes",
      .kinds = {kind::kMovement},
      .open = {"BLOCK"},
  });
  return &rewrite;
}

}  // namespace amdahl
