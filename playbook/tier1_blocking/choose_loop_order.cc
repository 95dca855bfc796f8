// Which operand stays in L1 while the other passes, and whether A is copied to panels at all: with few rows its lines are
// in L1 anyway and the copy is work for nothing.
#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"

namespace amdahl {

const Rewrite* choose_loop_order() {
  static const KnobRewrite rewrite({
      .tier = 1,
      .name = "choose_loop_order",
      .target = "matmul",
      .precondition = "the kernel has the choice",
      .open = {"LOOP_ORDER", "PACK_A"},
  });
  return &rewrite;
}

}  // namespace amdahl
