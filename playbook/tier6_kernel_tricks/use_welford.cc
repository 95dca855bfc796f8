// Moments of blocks, merged (Chan, Golub & LeVeque 1979): mean and variance in one walk over memory, without cancellation.
#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"
#include "starter_kernels/kinds/kind_names.h"

namespace amdahl {

const Rewrite* use_welford() {
  static const KnobRewrite rewrite({
      .tier = 6,
      .name = "use_welford",
      .target = "layernorm",
      .precondition = "mean and variance of rows",
      .kinds = {kind::kLayerNorm},
      .open = {"WELFORD"},
  });
  return &rewrite;
}

}  // namespace amdahl
