// Along which dimension C is cut for the threads: along N each thread reads its own weights once, along M its own rows. More
// tasks than threads even out cores that are not equally fast.
#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"

namespace amdahl {

const Rewrite* choose_thread_partition() {
  static const KnobRewrite rewrite({
      .tier = 4,
      .name = "choose_thread_partition",
      .target = "matmul, attention, fused_mlp, conv, recurrence",
      .precondition = "more than one thread",
      .open = {"PARTITION", "TASKS"},
      .refuse = [](const RewriteContext& context, const Step&) { return std::string(context.plan.threads > 1 ? "" : "the plan runs on one thread"); },
  });
  return &rewrite;
}

}  // namespace amdahl
