// Steps of K that are on their way to shared memory while one is multiplied: enough bytes to hide memory's latency, few enough that two blocks fit a multiprocessor.
#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"

namespace amdahl {

const Rewrite* choose_pipeline_stages() {
  static const KnobRewrite rewrite({
      .tier = 2,
      .name = "choose_pipeline_stages",
      .target = "matmul, conv",
      .precondition = "half floats, FORM 3 or 4",
      .backend = "cuda",
      .where = {{"FORM", {3, 4}}},
      .open = {"WGMMA_STAGES"},
  });
  return &rewrite;
}

}  // namespace amdahl
