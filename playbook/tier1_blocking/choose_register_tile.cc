// The tile of C that stays in registers while K runs: it sets how many fused multiply-adds are in flight (two ports times a
// latency of four want eight independent sums) and how often a loaded operand is used.
#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"

namespace amdahl {

const Rewrite* choose_register_tile() {
  static const KnobRewrite rewrite({
      .tier = 1,
      .name = "choose_register_tile",
      .target = "kinds with a register tile (matmul, attention, fused_mlp, recurrence)",
      .precondition = "the tile fits the vector registers",
      .open = {"MR", "NRV"},
  });
  return &rewrite;
}

}  // namespace amdahl
