// How much of a convolution passes through L1 and L2 together: panels of the im2col matrix, blocks of input channels,
// tiles of Winograd's stages; whether weights pass by pixels or pixels by weights, and how many tiles of pixels are laid side by side for that.
#include "playbook/conv_rewrite.h"
#include "playbook/playbook.h"

namespace amdahl {

const Rewrite* choose_conv_blocks() {
  static const ConvRewrite rewrite({
      .tier = 1,
      .name = "choose_conv_blocks",
      .precondition = "not depthwise",
      .open = {{kConvIm2col, {"KC", "PANELS"}},
               {kConvTransposed, {"KC", "PANELS"}},
               {kConvBytes, {"PANELS", "PARTITION"}},
               {kConvWinograd, {"TB", "PARTITION"}},
               {kConvBlocked, {"KCB", "WEIGHTS_INNER", "PARTITION", "GATHER"}},
               {kConvStrassen, {"KC", "MB", "NB"}}},
  });
  return &rewrite;
}

}  // namespace amdahl
