#include "starter_kernels/cuda/conv_windows.h"

#include <algorithm>

#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/kinds/conv.h"
#include "starter_kernels/kinds/formats.h"
#include "starter_kernels/kinds/kind_names.h"

namespace amdahl {
namespace {

constexpr size_t kFirstExtra = 2;  // in[0] is x, in[1] is w

// [N, pixels, C] as [N * pixels, C].
std::optional<Access> by_window(const Access& a) {
  const int64_t images = a.shape[0], pixels = a.shape[1];
  if (images > 1 && pixels > 1 && a.strides[0] != pixels * a.strides[1]) return std::nullopt;
  Access rows = a;
  rows.shape = {images * pixels, a.shape[2]};
  rows.strides = {pixels > 1 ? a.strides[1] : a.strides[0], a.strides[2]};
  return rows;
}

bool is_plain_convolution(const Problem& problem, const SlidingWindow& g) {
  const Access &x = problem.in[0], &w = problem.in[1];
  return is_half(x.dtype) && w.dtype == x.dtype && w.constant && w.is_dense() && x.is_dense() && problem.out[0].is_dense() && g.spatial_rank == 2 &&
         g.groups == 1 && !g.empty() && !ConvParams::of(problem).transposed && declared_algorithm(problem).empty();
}

}  // namespace

std::optional<Problem> product_by_windows(const Problem& conv) {
  if (format_of_output(conv, 0) != kChannelsLast || in_channel_blocks(conv) || !is_plain_convolution(conv, SlidingWindow::of(conv))) return std::nullopt;
  Access folded;
  if (!std::all_of(conv.in.begin() + kFirstExtra, conv.in.end(), [&](const Access& a) { return fold_spatial(a, &folded); })) return std::nullopt;
  const Problem stored = stored_channels_last(conv, kFirstExtra);
  Problem product;
  product.kind = kind::kMatmul;
  product.threads = conv.threads;
  set_epilogue(product, epilogue_of(conv));
  product.in = {conv.in[0], conv.in[1]};
  for (size_t i = kFirstExtra; i < stored.in.size(); ++i) {
    const std::optional<Access> rows = by_window(stored.in[i]);
    if (!rows) return std::nullopt;
    product.in.push_back(*rows);
  }
  product.out = {*by_window(stored.out[0])};
  return product;
}

std::string window_sizes_text(const SlidingWindow& g) {
  return cuda_sizes({{"CHANNELS", g.channels},
                     {"IMAGES", g.n},
                     {"IN_W", g.in[kWindowW]},
                     {"IN_H", g.in[kWindowH]},
                     {"OUT_W", g.out[kWindowW]},
                     {"OUT_H", g.out[kWindowH]},
                     {"TAPS_W", g.kernel[kWindowW]},
                     {"TAPS_H", g.kernel[kWindowH]},
                     {"STEP_W", g.stride[kWindowW]},
                     {"STEP_H", g.stride[kWindowH]},
                     {"DILATION_W", g.dilation[kWindowW]},
                     {"DILATION_H", g.dilation[kWindowH]},
                     {"PAD_W", g.pad[kWindowW]},
                     {"PAD_H", g.pad[kWindowH]}});
}

}  // namespace amdahl
