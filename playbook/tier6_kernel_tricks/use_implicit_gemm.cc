// Back from another algorithm to the matrix product over panels of the im2col matrix, which is never stored whole.
#include "playbook/conv_rewrite.h"
#include "playbook/playbook.h"

namespace amdahl {

const Rewrite* use_implicit_gemm() {
  static const ConvRewrite rewrite({
      .tier = 6,
      .name = "use_implicit_gemm",
      .precondition = "row-major f32, not depthwise, another algorithm in place",
      .set = {{"ALGORITHM", kConvIm2col}},
      .open = {{kConvIm2col, {"MR", "NV", "KC"}}},
      .structural = true,
  });
  return &rewrite;
}

}  // namespace amdahl
