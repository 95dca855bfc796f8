// 512-bit vectors: twice the arithmetic of 256-bit ones a cycle on cores with two such ports, and 32 registers for a larger
// tile, which is therefore searched with it.
#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"
#include "starter_kernels/cpu/vector_width.h"

namespace amdahl {

const Rewrite* use_avx512() {
  static const KnobRewrite rewrite({
      .tier = 5,
      .name = "use_avx512",
      .target = "kinds with a vector width (matmul, attention, fused_mlp, conv)",
      .precondition = "the machine has AVX-512",
      .backend = "cpu",
      .set = {{"VLEN", 16}},
      .open = {"MR", "NRV"},
      .structural = true,
      .refuse = [](const RewriteContext& context, const Step&) { return refused_on_avx512(context.target.device); },
  });
  return &rewrite;
}

}  // namespace amdahl
