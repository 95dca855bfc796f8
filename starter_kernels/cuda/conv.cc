// How an NVIDIA card computes the conv kind (starter_kernels/kinds/conv.cc).

#include <algorithm>

#include "starter_kernels/cuda/conv_boxes.h"
#include "starter_kernels/cuda/conv_depthwise_last.h"
#include "starter_kernels/cuda/conv_image.h"
#include "starter_kernels/cuda/conv_text.h"
#include "starter_kernels/cuda/cuda_kernels.h"
#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/cuda/limits.h"
#include "starter_kernels/cuda/product_tile.h"
#include "starter_kernels/cuda/wgmma.h"
#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/sliding_window.h"
#include "starter_kernels/text/index_space.h"

namespace amdahl {
namespace {

// Blocks that share the steps of K of one tile, so that every multiprocessor has one; a part is worth its way through memory from 256 steps on.
int64_t starter_split_of(const SlidingWindow& g, const ProductTile& tile, int64_t units) {
  const int64_t og = g.out_channels / g.groups, k = g.channels / g.groups * g.taps(), positions = g.n * g.out_pixels();
  const auto tiles = [](int64_t n, int64_t size) { return (n + size - 1) / size; };
  const int64_t blocks = tiles(og, tile.tm * tile.block_m) * tiles(positions, tile.tn * tile.block_n) * g.groups;
  return starter_split(blocks, units, k, 256);
}

SearchSpace refused_space(const std::string& why) {
  SearchSpace space;
  space.refuse = [why](const Knobs&) { return why; };
  return space;
}

class ConvOnCuda final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kConv; }

  SearchSpace space(const Problem& problem, const DeviceInfo& card) const override {
    const SlidingWindow g = SlidingWindow::of(problem);
    const std::vector<int64_t> forms = conv_forms(problem, card);
    if (forms.empty()) return refused_space("a card has no form of this convolution for these storage formats");
    if (forms.back() == kConvDepthwiseLastForm) return depthwise_last_space(problem, card);
    if (forms.back() == kConvImageForm) return conv_image_space(problem, card);
    if (forms.back() == kConvBoxesForm) return conv_boxes_space(problem, card);
    const int64_t form = forms.back(), units = std::max(card.units, 1);
    const bool wgmma = form == kConvWgmmaForm, product = wgmma || form == kConvGemmForm;
    const WgmmaStarter starter = starter_wgmma({g.out_channels, g.n * g.out_pixels(), g.channels * g.taps(), 1, units});
    const ProductTile tile =
        product ? starter_tile(g.out_channels / g.groups, g.n * g.out_pixels(), g.groups, units) : ProductTile{1, g.out_pixels() > 128 ? 4 : 2, 8, 32};
    SearchSpace space;
    space.knobs = {{"FORM", forms, form, "0 any convolution, an element a thread; 1 implicit matrix product; 2 depthwise; 3 the product on tensor cores"},
                   {"BLOCK_M", {4, 8, 16, 32}, tile.block_m, "threads of a block along output channels"},
                   {"BLOCK_N", {16, 32}, tile.block_n, "threads of a block along output positions"}};
    if (form != kConvDirectForm) space.knobs.push_back({"TN", {1, 2, 4, 8}, tile.tn, "output positions a thread"});
    if (product) {
      space.knobs.push_back({"TM", {1, 2, 4, 8}, tile.tm, "output channels a thread"});
      space.knobs.push_back({"BK", {8, 16, 32}, 16, "steps of K in shared memory"});
      space.knobs.push_back(
          {"SPLIT_K", {1, 2, 4, 8, 16}, wgmma ? starter.split : starter_split_of(g, tile, units), "blocks that share the steps of K of a tile"});
    }
    if (wgmma) add_wgmma_tile_knobs(space, starter, {32, 64, 128});
    const bool declared = !declared_algorithm(problem).empty();
    const int64_t sums = numel(problem.out[0].shape);
    const DType sum = accumulator_of(problem.in[0].dtype);
    space.refuse = [=](const Knobs& k) -> std::string {
      if (declared) return "a card has no form of this declared algorithm yet";
      if (k.at("FORM") > kConvWgmmaForm) return "this form is of channels last";
      if (k.at("FORM") == kConvWgmmaForm) return refused_wgmma_tile(k);
      if (k.at("FORM") != kConvGemmForm) return "";
      const std::string refusal = refused_tile(k, sum);
      return refusal.empty() ? refused_parts(k.at("SPLIT_K"), sums * static_cast<int64_t>(size_of(sum))) : refusal;
    };
    return space;
  }

  std::string source(const Variant& variant, const DeviceInfo& card) const override {
    const Knobs& k = variant.knobs;
    const int64_t form = k.at("FORM");
    if (form == kConvImageForm) return conv_image_text(variant.problem, k);
    if (form == kConvBoxesForm) return conv_boxes_text(variant.problem, k, card);
    const bool split = form == kConvGemmForm && k.at("SPLIT_K") > 1;
    if (form == kConvDepthwiseLastForm) return join_text({cuda_opening(variant.problem), depthwise_last_text(variant.problem, k)});
    if (form == kConvWgmmaForm) return join_text({cuda_opening(variant.problem), conv_text(variant.problem, form, k)});
    return join_text({cuda_opening(variant.problem), conv_text(variant.problem, form, k), std::string(cuda_text(split ? "conv_split.cu" : "conv.cu"))});
  }
};

}  // namespace

const KernelImplementation* conv_on_cuda() {
  static const ConvOnCuda implementation;
  return &implementation;
}

}  // namespace amdahl
