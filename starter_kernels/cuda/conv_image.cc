#include "starter_kernels/cuda/conv_image.h"

#include <fmt/format.h>

#include <algorithm>

#include "starter_kernels/cuda/adjacent_epilogue.h"
#include "starter_kernels/cuda/ceil_div.h"
#include "starter_kernels/cuda/conv_text.h"
#include "starter_kernels/cuda/conv_windows.h"
#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/cuda/limits.h"
#include "starter_kernels/kinds/formats.h"
#include "starter_kernels/kinds/sliding_window.h"
#include "starter_kernels/text/index_space.h"
#include "starter_kernels/text/program_text.h"

namespace amdahl {
namespace {

constexpr int64_t kMostChannels = 7;  // from 8 on, lines of channels are what copies bring (conv_boxes.h)
constexpr int64_t kColumns = 16;      // windows of a row that are multiplied together

int64_t lines_of(const SlidingWindow& g) { return g.channels * g.kernel[kWindowH] * ceil_div(g.kernel[kWindowW], 8); }

// As kernels/conv_image.cu counts them.
int64_t shared_bytes(const SlidingWindow& g, const Knobs& k) {
  const int64_t rows = k.at("IMAGE_WARPS") * k.at("ROWS_OF_WARP"), tile = k.at("TILE_O");
  const int64_t seen_h = (rows - 1) * g.stride[kWindowH] + (g.kernel[kWindowH] - 1) * g.dilation[kWindowH] + 1;
  const int64_t seen_w = ceil_div((kColumns - 1) * g.stride[kWindowW] + (ceil_div(g.kernel[kWindowW], 8) * 8 - 1) * g.dilation[kWindowW] + 2, 2) * 2;
  const int64_t weights = ceil_div(lines_of(g), 2) * tile * 16, results = k.at("IMAGE_WARPS") * kColumns * (tile + 8);
  return 2 * (weights + ceil_div(g.channels * seen_h * seen_w, 8) * 8 + results);
}

bool fits(const SlidingWindow& g, const Knobs& k) { return shared_bytes(g, k) <= kDynamicSharedBytes; }

const Knobs kSmallest{{"IMAGE_WARPS", 2}, {"ROWS_OF_WARP", 1}, {"TILE_O", 8}};

// All channels of the output at once, and two rows a warp where two blocks a multiprocessor are left: a block's weights are read once for all of them. Less where
// large windows take the memory: rows first, which a block of more channels would read again.
Knobs starter_of(const SlidingWindow& g, int64_t units) {
  const int64_t strips = g.n * ceil_div(g.out[kWindowW], kColumns) * g.out[kWindowH];
  Knobs k{{"IMAGE_WARPS", 8}, {"ROWS_OF_WARP", strips >= 8 * 2 * 2 * units ? 2 : 1}, {"TILE_O", 8}};
  while (k["TILE_O"] < 64 && k["TILE_O"] < g.out_channels) k["TILE_O"] *= 2;
  for (const char* name : {"ROWS_OF_WARP", "IMAGE_WARPS", "TILE_O"})
    while (k[name] > kSmallest.at(name) && !fits(g, k)) k[name] /= 2;
  return k;
}

}  // namespace

bool has_conv_image_form(const Problem& problem) {
  const SlidingWindow g = SlidingWindow::of(problem);
  return format_of_input(problem, 0).empty() && is_half(problem.out[0].dtype) && g.channels <= kMostChannels && g.out_channels > 1 && fits(g, kSmallest) &&
         product_by_windows(problem).has_value();
}

SearchSpace conv_image_space(const Problem& problem, const DeviceInfo& card) {
  const SlidingWindow g = SlidingWindow::of(problem);
  const Knobs starter = starter_of(g, std::max(card.units, 1));
  SearchSpace space;
  space.knobs = {{"FORM", {kConvImageForm}, kConvImageForm, "6 an image of few channels on tensor cores, to channels last"},
                 {"IMAGE_WARPS", {2, 4, 8}, starter.at("IMAGE_WARPS"), "warps of a block"},
                 {"ROWS_OF_WARP", {1, 2, 4}, starter.at("ROWS_OF_WARP"), "rows of 16 windows a warp"},
                 {"TILE_O", {8, 16, 32, 64}, starter.at("TILE_O"), "output channels of a block"}};
  space.refuse = [g](const Knobs& k) { return refused_shared(shared_bytes(g, k), kDynamicSharedBytes); };
  return space;
}

std::string conv_image_text(const Problem& problem, const Knobs& knobs) {
  const SlidingWindow g = SlidingWindow::of(problem);
  const Problem product = *product_by_windows(problem);
  constexpr int64_t kUnrolled = 16;  // steps; more would not fit the cache of instructions
  return join_text({cuda_opening(problem), window_sizes_text(g),
                    cuda_sizes({{"M", g.n * g.out_pixels()},
                                {"N", g.out_channels},
                                {"WARPS", knobs.at("IMAGE_WARPS")},
                                {"ROWS_OF_WARP", knobs.at("ROWS_OF_WARP")},
                                {"TILE_O", knobs.at("TILE_O")},
                                {"UNROLL", std::min(ceil_div(lines_of(g), 2), kUnrolled)}}),
                    fmt::format("#define HALF \"{}\"\ntypedef float sum_t;\ntypedef {} out_t;", problem.in[0].dtype == DType::kBF16 ? "bf16" : "f16",
                                c_type(problem.out[0].dtype)),
                    cuda_epilogue(product, 2), std::string(cuda_text("shared_loop.h")), std::string(cuda_text("mma.h")), std::string(cuda_text("vector.h")),
                    adjacent_epilogue_text(product, 2, {}, 2), std::string(cuda_text("conv_image.cu"))});
}

}  // namespace amdahl
