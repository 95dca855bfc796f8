// Vectors of pixels loaded where they lie in the padded input, without packing: for few input channels or large
// windows.
#include "playbook/conv_rewrite.h"
#include "playbook/playbook.h"

namespace amdahl {

const Rewrite* use_direct_conv() {
  static const ConvRewrite rewrite({
      .tier = 6,
      .name = "use_direct_conv",
      .precondition = "row-major f32, not depthwise, not 1x1",
      .set = {{"ALGORITHM", kConvDirect}},
      .open = {{kConvDirect, {"MR", "NV", "PARTITION"}}},
      .structural = true,
  });
  return &rewrite;
}

}  // namespace amdahl
