// F(4x4, 3x3): four times fewer products than the direct sum. Its transforms have entries up to 8 and 1/24, so that
// sums round relative to the whole patch: an error constant of its own, which the problem declares.
#include "playbook/conv_rewrite.h"
#include "playbook/playbook.h"

namespace amdahl {

const Rewrite* use_winograd_f43() {
  static const ConvRewrite rewrite({
      .tier = 6,
      .name = "use_winograd_f43",
      .precondition = "f32, 3x3, stride 1, not grouped, constant weights; declares its error constant",
      .set = {{"ALGORITHM", kConvWinograd}, {"WINO_M", 4}},
      .open = {{kConvWinograd, {"TB", "PX", "OCV", "PARTITION"}}},
      .declared = "winograd_f43",
      .structural = true,
  });
  return &rewrite;
}

}  // namespace amdahl
