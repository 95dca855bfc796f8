// Few long rows are cut into pieces, so that all threads fold.
#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"
#include "starter_kernels/kinds/kind_names.h"

namespace amdahl {

const Rewrite* split_long_rows() {
  static const KnobRewrite rewrite({
      .tier = 4,
      .name = "split_long_rows",
      .target = "reduce",
      .precondition = "threads to split among",
      .kinds = {kind::kReduce},
      .open = {"PIECES"},
  });
  return &rewrite;
}

}  // namespace amdahl
