#pragma once
// Convolutions of half floats over channels last beside the depthwise ones (channels_last.h): of windows that come by copies of boxes, and of images.

#include <limits>
#include <string>
#include <vector>

#include "starter_kernels/examples/example_graph.h"

namespace amdahl::testing {

struct Taps {
  std::vector<int64_t> size, step = {1, 1};
  std::vector<int64_t> pads = {0, 0, 0, 0};  // above, left, below, right
  std::vector<int64_t> apart = {1, 1};

  int64_t windows(int64_t pixels, size_t d) const { return (pixels + pads[d] + pads[d + 2] - (size[d] - 1) * apart[d] - 1) / step[d] + 1; }
};

// Of x, an input or `image`, with a bias; then "Clip", "residual" (another tensor is added), "scale" (a number a channel) or nothing.
inline Graph convolution(DType type, const Shape& x, int64_t channels, const Taps& taps, const std::string& then = "", const std::vector<double>& image = {}) {
  ExampleGraph g(fmt::format("{} of {} to {} channels, {} x {} by {}, {} apart, {}", name_of(type), x[1], channels, taps.size[0], taps.size[1], taps.step[1],
                             taps.apart[1], then),
                 22);
  const ValueId from = image.empty() ? g.input(type, x) : g.floats(x, image, type);
  const ValueId w = g.normal({channels, x[1], taps.size[0], taps.size[1]}, 3, 0, 0.5, type), bias = g.normal({channels}, 4, 0, 1, type);
  const ValueId y = g.node("Conv", {from, w, bias}, {{"strides", taps.step}, {"pads", taps.pads}, {"dilations", taps.apart}});
  if (then == "Clip") return g.finish({g.node("Clip", {y, g.floats({}, {-1}, type), g.floats({}, {6}, type)})});
  if (then == "scale") return g.finish({g.node("Mul", {y, g.normal({channels, 1, 1}, 5, 0, 1, type)})});
  if (then == "residual") return g.finish({g.node("Add", {y, g.input(type, {x[0], channels, taps.windows(x[2], 0), taps.windows(x[3], 1)})})});
  return g.finish({y});
}

// What a card copies as boxes: lines of 64 channels that are not full, several tiles of windows and of channels, images that end within a tile.
inline std::vector<Graph> convolutions_of_windows() {
  const DType half = DType::kF16, brain = DType::kBF16;
  const std::vector<int64_t> around{1, 1, 1, 1}, two{2, 2};
  return {
      convolution(half, {1, 64, 7, 9}, 24, {{1, 1}}, "Clip"),
      convolution(brain, {3, 136, 9, 7}, 264, {{1, 1}}, "residual"),
      convolution(half, {2, 72, 9, 7}, 264, {{1, 1}, two}, "residual"),
      convolution(half, {1, 24, 14, 13}, 40, {{3, 3}, {1, 1}, around}, "residual"),
      convolution(half, {2, 8, 6, 5}, 10, {{3, 3}, {1, 1}, around}, "residual"),
      convolution(brain, {3, 136, 9, 10}, 24, {{3, 3}, two, around}, "scale"),
      convolution(half, {1, 16, 12, 11}, 32, {{3, 3}, {1, 1}, {2, 2, 2, 2}, two}, "Clip"),
      convolution(half, {1, 72, 8, 9}, 24, {{3, 3}, {1, 1}, {0, 2, 1, 0}}, "scale"),
      convolution(half, {5, 64, 7, 7}, 72, {{3, 3}, {1, 1}, around}, "residual"),
      convolution(brain, {2, 40, 5, 20}, 16, {{1, 5}, {1, 3}, {0, 2, 0, 1}}),
      convolution(half, {1, 128, 14, 14}, 192, {{3, 3}, {1, 1}, around}, "Clip"),
  };
}

// Windows that see neither the NaN nor the infinity have numbers: what a kernel multiplies by zeros to fill a line must not be these.
inline Graph image_with_values_that_are_no_numbers() {
  const Shape x{1, 2, 12, 19};
  std::vector<double> image(static_cast<size_t>(numel(x)), 0.5);
  image[4 * 19 + 6] = std::numeric_limits<double>::quiet_NaN();
  image[(12 + 9) * 19 + 18] = std::numeric_limits<double>::infinity();
  return convolution(DType::kF16, x, 16, {{3, 3}}, "", image);
}

// Fewer than 8 channels, row-major.
inline std::vector<Graph> convolutions_of_images() {
  const DType half = DType::kF16, brain = DType::kBF16;
  const std::vector<int64_t> around{1, 1, 1, 1}, two{2, 2}, four{4, 4};
  return {
      convolution(half, {1, 3, 33, 31}, 72, {{7, 7}, two, {3, 3, 3, 3}}, "Clip"),
      convolution(half, {2, 1, 9, 17}, 10, {{1, 1}}, "scale"),
      convolution(brain, {1, 3, 13, 12}, 33, {{3, 3}, {1, 1}, around}, "residual"),
      convolution(half, {2, 3, 21, 35}, 24, {{3, 3}, two, {0, 0, 1, 1}}, "residual"),
      convolution(brain, {1, 4, 14, 15}, 24, {{5, 5}, two, {0, 2, 1, 2}}),
      convolution(half, {1, 3, 43, 45}, 64, {{11, 11}, four, {2, 2, 2, 2}}, "Clip"),
      convolution(half, {2, 7, 11, 20}, 2, {{3, 3}, {1, 1}, {2, 2, 2, 2}, two}, "residual"),
      convolution(half, {1, 1, 29, 70}, 16, {{3, 9}, {1, 4}, {1, 0, 0, 6}, {1, 3}}, "scale"),
      convolution(half, {1, 3, 48, 32}, 72, {{16, 16}, {16, 16}}),
      image_with_values_that_are_no_numbers(),
  };
}

}  // namespace amdahl::testing
