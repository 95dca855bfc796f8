// Sums that a thread keeps in registers, and the threads of a block: larger tiles read shared memory less, smaller ones are more blocks.
#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"
#include "starter_kernels/kinds/kind_names.h"

namespace amdahl {

const Rewrite* choose_thread_tile() {
  static const KnobRewrite rewrite({
      .tier = 1,
      .name = "choose_thread_tile",
      .target = "matmul, conv, fused_mlp",
      .precondition = "a form that multiplies in the threads' own registers",
      .backend = "cuda",
      .open = {"TM", "TN", "BLOCK_M", "BLOCK_N", "BK"},
      .refuse =
          [](const RewriteContext&, const Step& step) {
            // Products have it in form 0; convolutions in all but those of tensor cores.
            const auto form = step.variant.knobs.find("FORM");
            const bool has = form == step.variant.knobs.end() || form->second == 0 ||
                             (step.variant.problem.kind != kind::kMatmul && (form->second <= 2 || form->second == 5));
            return std::string(has ? "" : "this form has no such tile");
          },
  });
  return &rewrite;
}

}  // namespace amdahl
