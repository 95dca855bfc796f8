#pragma once
// Where the taps of a convolution or pooling window fall. One to three spatial dimensions, always held as three (leading
// ones of size 1), so that the evaluators have a single loop nest.

#include <array>

#include "graph/op.h"

namespace amdahl {

struct WindowGeometry {
  std::array<int64_t, 3> in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1}, pad_begin{0, 0, 0}, pad_end{0, 0, 0};
  int rank = 0;  // spatial dimensions the model sees

  int64_t in_size() const { return in[0] * in[1] * in[2]; }
  int64_t out_size() const { return out[0] * out[1] * out[2]; }
  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  // Position in the input that output `o` reads at tap `k` along dimension d; outside [0, in) it is padding.
  int64_t position(int d, int64_t o, int64_t k) const { return o * stride[d] - pad_begin[d] + k * dilation[d]; }
  // {N, C, spatial output}: the last `rank` entries of `out`.
  Shape output_shape(int64_t batch, int64_t channels) const;
};

// Reads kernel_shape (or takes `kernel`, a convolution weight's spatial dimensions), strides, dilations, pads, auto_pad and
// ceil_mode of `node`. `x` is the N x C x spatial shape. Throws Refusal.
WindowGeometry window_geometry(const Node& node, const Shape& x, const Shape& kernel);

// The same for ConvTranspose: `in` is the operator's input, `out` its output, and the taps are those of the forward
// convolution from `out` back to `in` (position() maps an *input* position to the output).
WindowGeometry transposed_geometry(const Node& node, const Shape& x, const Shape& kernel);

}  // namespace amdahl
