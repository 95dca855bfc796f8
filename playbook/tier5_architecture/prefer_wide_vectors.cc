// Compilers keep to 256 bits on server cores by default, for fear of lower clocks; since Ice Lake the fear is unfounded.
#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"
#include "starter_kernels/cpu/vector_width.h"

namespace amdahl {

const Rewrite* prefer_wide_vectors() {
  static const KnobRewrite rewrite({
      .tier = 5,
      .name = "prefer_wide_vectors",
      .target = "every kind",
      .precondition = "the machine has AVX-512",
      .flags = {"-mprefer-vector-width=512"},
      .refuse = [](const RewriteContext& context, const Step&) { return refused_on_avx512(context.target.device); },
  });
  return &rewrite;
}

}  // namespace amdahl
