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
            // Products have it in form 0; convolutions in all but the tensor cores' form.
            const auto form = step.variant.knobs.find("FORM");
            const int64_t last = step.variant.problem.kind == kind::kMatmul ? 0 : 2;
            return std::string(form == step.variant.knobs.end() || form->second <= last ? "" : "this form has no such tile");
          },
  });
  return &rewrite;
}

}  // namespace amdahl
