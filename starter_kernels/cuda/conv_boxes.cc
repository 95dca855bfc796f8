#include "starter_kernels/cuda/conv_boxes.h"

#include "starter_kernels/cuda/ceil_div.h"
#include "starter_kernels/cuda/conv_text.h"
#include "starter_kernels/cuda/conv_windows.h"
#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/cuda/matmul_boxes.h"
#include "starter_kernels/cuda/wgmma.h"
#include "starter_kernels/kinds/formats.h"
#include "starter_kernels/kinds/sliding_window.h"
#include "starter_kernels/text/index_space.h"

namespace amdahl {
namespace {

constexpr int64_t kMostOfStep = 8, kMostOfTap = 255, kFirstCorner = -128, kLastCorner = 127;

// Where the last window of a row or column begins, beside the image's last pixel.
int64_t last_corner(const SlidingWindow& g, size_t d) { return (g.out[d] - 1) * g.stride[d] - g.pad[d] - (g.in[d] - 1); }

bool is_mappable(const SlidingWindow& g) {
  const auto fits = [&](size_t d) {
    return g.stride[d] <= kMostOfStep && -g.pad[d] >= kFirstCorner && last_corner(g, d) >= kFirstCorner && last_corner(g, d) <= kLastCorner &&
           (g.kernel[d] - 1) * g.dilation[d] <= kMostOfTap;
  };
  return g.channels % 8 == 0 && fits(kWindowH) && fits(kWindowW);
}

int64_t channels_of_tap(const SlidingWindow& g) { return ceil_div(g.channels, kWgmmaLine) * kWgmmaLine; }

}  // namespace

std::optional<Problem> conv_as_product(const Problem& problem) {
  const SlidingWindow g = SlidingWindow::of(problem);
  if (format_of_input(problem, 0) != kChannelsLast || !is_mappable(g)) return std::nullopt;
  std::optional<Problem> product = product_by_windows(problem);
  if (!product) return std::nullopt;
  const DType type = problem.in[0].dtype;
  const int64_t windows = g.n * g.out_pixels(), k = g.is_pointwise() ? g.channels : g.taps() * channels_of_tap(g);
  product->in[0] = Access::dense(type, {windows, k});
  product->in[1] = Access::dense(type, {k, g.out_channels}, true);
  if (g.is_pointwise()) product->in[1].strides = {1, g.channels};
  return product;
}

bool has_conv_boxes_form(const Problem& problem, const DeviceInfo& card) {
  const std::optional<Problem> product = conv_as_product(problem);
  return product && has_boxes_form(*product, card);
}

SearchSpace conv_boxes_space(const Problem& problem, const DeviceInfo& card) {
  const Problem product = *conv_as_product(problem);
  const WgmmaStarter starter = starter_boxes(product, card);
  SearchSpace space;
  space.knobs = {{"FORM", {kConvBoxesForm}, kConvBoxesForm, "4 a product of windows on tensor cores, copied by one warp"},
                 {"SPLIT_K", {1, 2, 3, 4, 6, 8}, starter.split, "blocks that share the steps of K of a tile"}};
  add_wgmma_tile_knobs(space, starter, {16, 32, 48, 64, 96, 128, 192, 256});
  space.refuse = [product](const Knobs& k) { return refused_boxes(product, k); };
  return space;
}

std::string conv_boxes_text(const Problem& problem, const Knobs& knobs, const DeviceInfo& card) {
  const SlidingWindow g = SlidingWindow::of(problem);
  const Problem product = *conv_as_product(problem);
  if (g.is_pointwise()) return boxes_text(product, knobs, card, boxes_of_matrix_text(product));
  return boxes_text(product, knobs, card,
                    join_text({window_sizes_text(g), cuda_sizes({{"LAST_W", last_corner(g, kWindowW)}, {"LAST_H", last_corner(g, kWindowH)}}),
                               std::string(cuda_text("boxes_of_windows.h"))}));
}

}  // namespace amdahl
