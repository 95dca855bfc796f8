#include "starter_kernels/cuda/conv_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "starter_kernels/cuda/conv_boxes.h"
#include "starter_kernels/cuda/conv_depthwise_last.h"
#include "starter_kernels/cuda/conv_image.h"
#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/cuda/product_tile.h"
#include "starter_kernels/cuda/wgmma.h"
#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/conv.h"
#include "starter_kernels/kinds/formats.h"
#include "starter_kernels/kinds/sliding_window.h"
#include "starter_kernels/text/index_space.h"
#include "starter_kernels/text/program_text.h"
#include "starter_kernels/text/window_text.h"

namespace amdahl {
namespace {

constexpr size_t kExtra = 2;  // in[0] is x, in[1] is w
constexpr int64_t kMostCounted = int64_t{1} << 30;

// `sum_t load_x(in, n, c, d, h, w)` and load_w alike, through their strides.
std::string strided_loads(const Problem& problem, const SlidingWindow& g) {
  std::vector<std::string> indices = spatial_names({"d", "h", "w"}, g.spatial_rank);
  indices.insert(indices.begin(), {"a", "b"});
  std::string text;
  for (const auto& [name, input] : {std::pair{"load_x", 0}, {"load_w", 1}})
    text += fmt::format("static inline sum_t {}(const void* const* in, int64_t a, int64_t b, int64_t d, int64_t h, int64_t w) {{\n  return {};\n}}\n", name,
                        emit_load(problem.in[static_cast<size_t>(input)], fmt::format("in[{}]", input), indices));
  return text;
}

// `sum_t load_x(x_t)` and load_w alike, of elements where they lie.
std::string dense_loads(const Problem& problem) {
  const DType x = problem.in[0].dtype, w = problem.in[1].dtype;
  return fmt::format(
      "typedef {} x_t;\ntypedef {} w_t;\nstatic inline sum_t load_x(x_t x) {{ return {}; }}\nstatic inline sum_t load_w(w_t w) {{ return {}; }}\n"
      "typedef {} index_t;\n",
      c_type(x), c_type(w), load_text(x, "x"), load_text(w, "w"),
      std::max(numel(problem.in[0].shape), numel(problem.in[1].shape)) < kMostCounted ? "int" : "int64_t");
}

// `out_t finish(sum, in, n, o, p)`: the epilogue at flat output pixel p.
std::string finish_text(const Problem& problem, const SlidingWindow& g) {
  const PixelEpilogue epilogue = epilogue_of_pixels(problem, g);
  return fmt::format(
      "{}typedef {} out_t;\nstatic inline out_t finish(sum_t sum, const void* const* in, int64_t n, int64_t o, int64_t p) {{\n"
      "  return epilogue(sum, in, {});\n}}\n",
      cuda_epilogue(epilogue.problem, kExtra), c_type(problem.out[0].dtype), epilogue.indices);
}

}  // namespace

std::vector<int64_t> conv_forms(const Problem& problem, const DeviceInfo& card) {
  const SlidingWindow g = SlidingWindow::of(problem);
  if (has_conv_boxes_form(problem, card)) return {kConvBoxesForm};
  if (has_depthwise_last_form(problem)) return {kConvDepthwiseLastForm};
  if (has_conv_image_form(problem)) return {kConvImageForm};
  if (channels_last(problem) || in_channel_blocks(problem)) return {};
  const bool dense = problem.in[0].is_dense() && problem.in[1].is_dense();
  const bool counted_in_int = std::max({g.in_pixels(), g.out_pixels(), g.channels / g.groups * g.taps()}) < kMostCounted;
  if (ConvParams::of(problem).transposed || !dense || !counted_in_int || g.empty()) return {kConvDirectForm};
  if (g.channels == g.groups && g.groups > 1) return {kConvDirectForm, kConvDepthwiseForm};
  const DType type = problem.in[0].dtype;
  const bool half = is_half(type) && problem.in[1].dtype == type;
  if (has_wgmma(card) && half && g.groups == 1 && problem.in[1].constant) return {kConvDirectForm, kConvGemmForm, kConvWgmmaForm};
  return {kConvDirectForm, kConvGemmForm};
}

std::string conv_text(const Problem& problem, int64_t form, const Knobs& knobs) {
  const SlidingWindow g = SlidingWindow::of(problem);
  const auto knob = [&](const char* name) { return std::pair<std::string_view, int64_t>{name, knobs.at(name)}; };
  std::string text = window_text(g, "enum : long long { ", " };");
  text += fmt::format("typedef {} sum_t;\n", register_type(accumulator_of(problem.in[0].dtype)));
  text += cuda_sizes({knob("BLOCK_M"), knob("BLOCK_N")});
  if (form != kConvDirectForm) text += cuda_sizes({knob("TN")}) + dense_loads(problem);
  text += finish_text(problem, g);
  if (form == kConvDirectForm)
    return join_text({text, fmt::format("enum : bool {{ TRANSPOSED = {} }};", ConvParams::of(problem).transposed), strided_loads(problem, g),
                      std::string(cuda_text("conv_direct.cu"))});
  if (form == kConvDepthwiseForm) return join_text({text, std::string(cuda_text("conv_depthwise.cu"))});
  const std::string positions(cuda_text("conv_positions.h"));
  if (form == kConvWgmmaForm)
    return join_text({text, cuda_sizes({knob("WARPGROUPS"), knob("WGMMA_N"), knob("WGMMA_STAGES"), knob("SPLIT_K")}), std::string(cuda_text("shared_loop.h")),
                      positions, wgmma_tile_text(problem.in[0].dtype, knobs), std::string(cuda_text("conv_wgmma.cu"))});
  return join_text(
      {text, cuda_sizes({knob("TM"), knob("BK"), knob("SPLIT_K")}), positions, product_tile_text(1), std::string(cuda_text("conv_implicit_gemm.cu"))});
}

}  // namespace amdahl
