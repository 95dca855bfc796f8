// How much one task of a memory-bound kernel takes: large tasks cost less to hand out, small ones balance, and a piece that
// fits L2 is still there for the next pass.
#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"

namespace amdahl {

const Rewrite* choose_rows_per_task() {
  static const KnobRewrite rewrite({
      .tier = 1,
      .name = "choose_rows_per_task",
      .target = "row kinds, pointwise, movement",
      .precondition = "more than one row or piece",
      .open = {"ROWS_PER_TASK", "GRAIN"},
  });
  return &rewrite;
}

}  // namespace amdahl
