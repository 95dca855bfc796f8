// How many threads of a card share a row or a run of elements, and how many elements each has: many small blocks hide latency, few large ones read longer runs.
#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"

namespace amdahl {

const Rewrite* choose_block_shape() {
  static const KnobRewrite rewrite({
      .tier = 1,
      .name = "choose_block_shape",
      .target = "row kinds, pointwise, movement, pool",
      .precondition = "more than one element",
      .backend = "cuda",
      .open = {"THREADS", "EACH", "PIECE", "LANES", "LINES", "TILE", "PLANES"},
  });
  return &rewrite;
}

}  // namespace amdahl
