// In a whole model weights come from DRAM at every inference; the hardware prefetcher starts anew at each panel, software
// prefetch of the next panel does not.
#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"

namespace amdahl {

const Rewrite* set_prefetch_distance() {
  static const KnobRewrite rewrite({
      .tier = 2,
      .name = "set_prefetch_distance",
      .target = "matmul, fused_mlp",
      .precondition = "the kernel streams panels",
      .open = {"PREFETCH"},
  });
  return &rewrite;
}

}  // namespace amdahl
