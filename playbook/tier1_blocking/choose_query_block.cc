// Queries that share one pass over the keys: more of them use a loaded key more often, fewer keep their scores in L1.
#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"
#include "starter_kernels/kinds/kind_names.h"

namespace amdahl {

const Rewrite* choose_query_block() {
  static const KnobRewrite rewrite({
      .tier = 1,
      .name = "choose_query_block",
      .target = "attention",
      .precondition = "none",
      .kinds = {kind::kAttention},
      .open = {"BLOCK_Q", "PACK_KV"},
  });
  return &rewrite;
}

}  // namespace amdahl
