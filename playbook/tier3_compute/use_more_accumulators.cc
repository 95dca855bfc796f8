// Several vectors in flight: an addition takes 4 cycles and two can start in each.
#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"
#include "starter_kernels/kinds/kind_names.h"

namespace amdahl {

const Rewrite* use_more_accumulators() {
  static const KnobRewrite rewrite({
      .tier = 3,
      .name = "use_more_accumulators",
      .target = "pointwise, reduce",
      .precondition = "a loop along memory",
      .kinds = {kind::kPointwise, kind::kReduce},
      .open = {"UNROLL", "STREAMS"},
  });
  return &rewrite;
}

}  // namespace amdahl
