#pragma once
// The sliding window that convolution and pooling share: its parameters, and sizes of input, window and output in up to three spatial
// dimensions, always written as three (depth, height, width; missing leading ones are 1).

#include <array>
#include <vector>

#include "graph/graph.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {

// As the graph has them, one number a spatial dimension, in elements: 1 to 3 of them.
struct WindowParams {
  std::vector<int64_t> kernel, strides, dilations;
  std::vector<int64_t> pads;  // before each dimension, then behind each

  static WindowParams of(const Problem& problem);
  void write(Problem& problem) const;
};

struct SlidingWindow {
  using Sizes = std::array<int64_t, 3>;
  int64_t n = 1, channels = 1, out_channels = 1, groups = 1;
  Sizes in{1, 1, 1}, kernel{1, 1, 1}, out{1, 1, 1};
  Sizes stride{1, 1, 1}, dilation{1, 1, 1};
  Sizes pad{0, 0, 0}, pad_end{0, 0, 0};  // before and after; `pad_end` matters to averages only, `out` has absorbed it
  int spatial_rank = 2;                  // as in the graph

  // From a problem's operands and parameters.
  static SlidingWindow of(const Problem& problem);

  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  int64_t out_pixels() const { return out[0] * out[1] * out[2]; }
  int64_t in_pixels() const { return in[0] * in[1] * in[2]; }
  bool empty() const;  // some size is zero
  bool is_depthwise() const { return channels == groups && groups > 1 && spatial_rank <= 2; }
  bool is_pointwise() const;    // 1x1, stride 1, no padding: a plain matrix product over pixels
  bool is_3x3_stride1() const;  // two-dimensional, undilated
};

// Of a Conv, ConvTranspose or pooling node, its padding where graph/ops/window_geometry.h puts it; `kernel`: a convolution weight's window.
WindowParams window_params(const Graph& graph, const Node& node, const std::vector<int64_t>& kernel, bool transposed);

}  // namespace amdahl
