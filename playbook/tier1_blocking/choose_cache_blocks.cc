// Blocks that fit the cache levels: KC x NR of B in L1, MC x KC of A in L2, KC x NC of B beyond; of products in halves MB rows of each block, whose sums
// stay in L2 while NB panels pass.
#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"

namespace amdahl {

const Rewrite* choose_cache_blocks() {
  static const KnobRewrite rewrite({
      .tier = 1,
      .name = "choose_cache_blocks",
      .target = "kinds blocked for the caches (matmul, fused_mlp)",
      .precondition = "the packed blocks fit the caches they are meant for",
      .open = {"MC", "KC", "NC", "MB", "NB"},
  });
  return &rewrite;
}

}  // namespace amdahl
