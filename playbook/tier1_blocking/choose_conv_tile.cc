// The tile of outputs that a convolution keeps in registers: output channels by vectors of pixels (row-major), or
// pixels by blocks of channels (channel blocks, Winograd). Which shape wastes least depends on the width of a row: 56,
// 28, 14, 7 ...
#include "playbook/conv_rewrite.h"
#include "playbook/playbook.h"

namespace amdahl {

const Rewrite* choose_conv_tile() {
  static const ConvRewrite rewrite({
      .tier = 1,
      .name = "choose_conv_tile",
      .precondition = "the tile fits the vector registers",
      .open = {{kConvIm2col, {"MR", "NV", "VLEN"}},
               {kConvTransposed, {"MR", "NV", "VLEN"}},
               {kConvBytes, {"MR", "NV"}},
               {kConvBytesDepthwise, {"NV"}},
               {kConvDirect, {"MR", "NV", "VLEN"}},
               {kConvDepthwise, {"NV", "VLEN"}},
               {kConvWinograd, {"PX", "OCV"}},
               {kConvBlocked, {"PX", "OCV"}},
               {kConvBlockedDepthwise, {"PX"}},
               {kConvStrassen, {"MR", "NRV"}}},
  });
  return &rewrite;
}

}  // namespace amdahl
