// Running maximum over blocks of keys (Milakov & Gimelshein 2018; flash attention): scores of one block at a time instead of
// all keys, which for long sequences no longer fit L2.
#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"
#include "starter_kernels/kinds/kind_names.h"

namespace amdahl {

const Rewrite* use_online_softmax() {
  static const KnobRewrite rewrite({
      .tier = 6,
      .name = "use_online_softmax",
      .target = "attention",
      .precondition = "softmax over blocks of keys",
      .kinds = {kind::kAttention},
      .set = {{"ONLINE", 1}},
      .open = {"BLOCK_Q", "BLOCK_K"},
      .structural = true,
  });
  return &rewrite;
}

}  // namespace amdahl
