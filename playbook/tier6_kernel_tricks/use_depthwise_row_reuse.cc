// Several output rows of a depthwise convolution at a time: an input row that they share is loaded once, 3 (TR + 2)
// loads instead of 9 TR at 3x3. Against it stands FLAT, one row of the padded width, which fills the lanes of narrow
// rows.
#include "playbook/conv_rewrite.h"
#include "playbook/playbook.h"

namespace amdahl {

const Rewrite* use_depthwise_row_reuse() {
  static const ConvRewrite rewrite({
      .tier = 6,
      .name = "use_depthwise_row_reuse",
      .precondition = "row-major f32 depthwise",
      .open = {{kConvDepthwise, {"TR", "FLAT", "NV"}}},
      .structural = true,
  });
  return &rewrite;
}

}  // namespace amdahl
