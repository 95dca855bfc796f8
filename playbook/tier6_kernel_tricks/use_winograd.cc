// F(2x2, 3x3): 2.25 times fewer products than the direct sum; transforms with entries 0, 1, -1 and 1/2 cost hardly any
// accuracy.
#include "playbook/conv_rewrite.h"
#include "playbook/playbook.h"

namespace amdahl {

const Rewrite* use_winograd() {
  static const ConvRewrite rewrite({
      .tier = 6,
      .name = "use_winograd",
      .precondition = "f32, 3x3, stride 1, not grouped, constant weights",
      .set = {{"ALGORITHM", kConvWinograd}, {"WINO_M", 2}},
      .open = {{kConvWinograd, {"TB", "PX", "OCV", "PARTITION"}}},
      .declared = "winograd_f23",
      .structural = true,
  });
  return &rewrite;
}

}  // namespace amdahl
