// A causal mask gives keys behind the last query of a block weight zero: half of the work of a square is never done.
#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"
#include "starter_kernels/kinds/kind_names.h"

namespace amdahl {

const Rewrite* skip_causal_tiles() {
  static const KnobRewrite rewrite({
      .tier = 6,
      .name = "skip_causal_tiles",
      .target = "attention",
      .precondition = "causal, what is hidden weighs nothing",
      .kinds = {kind::kAttention},
      .set = {{"SKIP_CAUSAL", 1}},
      .open = {"BLOCK_Q"},
      .structural = true,
  });
  return &rewrite;
}

}  // namespace amdahl
