// Queries and keys that a block takes at a time, and blocks that share a query's keys: with few heads the card is filled by parts.
#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"
#include "starter_kernels/kinds/kind_names.h"

namespace amdahl {

const Rewrite* choose_attention_tile() {
  static const KnobRewrite rewrite({
      .tier = 4,
      .name = "choose_attention_tile",
      .target = "attention",
      .precondition = "more than one query or key",
      .backend = "cuda",
      .kinds = {kind::kAttention},
      .open = {"QUERIES", "TQ", "KEYS", "KEY_WARPS", "PARTS"},
  });
  return &rewrite;
}

}  // namespace amdahl
