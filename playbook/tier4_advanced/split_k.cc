// A small C with a long K has too few tiles for the threads, and each tile one long chain of additions: parts of K are summed
// apart and added at the end.
#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"
#include "starter_kernels/kinds/kind_names.h"

namespace amdahl {

const Rewrite* split_k() {
  static const KnobRewrite rewrite({
      .tier = 4,
      .name = "split_k",
      .target = "matmul",
      .precondition = "K of 256 or more, at most 65536 sums",
      .kinds = {kind::kMatmul},
      .open = {"SPLIT_K", "PARTITION"},
      .refuse =
          [](const RewriteContext& context, const Step& step) {
            const SearchSpace space = context.target.space(step.variant.problem);
            const Knob* parts = space.find("SPLIT_K");
            return std::string(!parts ? "this form does not split K" : parts->values.size() > 1 ? "" : "K is short or C is large");
          },
  });
  return &rewrite;
}

}  // namespace amdahl
