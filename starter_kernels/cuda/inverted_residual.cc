// How an NVIDIA card computes the inverted_residual kind (starter_kernels/kinds/inverted_residual.cc).

#include "starter_kernels/kinds/inverted_residual.h"

#include <fmt/format.h>

#include <algorithm>

#include "starter_kernels/cuda/conv_text.h"
#include "starter_kernels/cuda/cuda_kernels.h"
#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/cuda/product_tile.h"
#include "starter_kernels/kinds/formats.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/sliding_window.h"
#include "starter_kernels/text/index_space.h"

namespace amdahl {
namespace {

constexpr size_t kOwnOperands = 2;  // x and w of a convolution

bool has_form(const Problem& part, int64_t form) {
  const std::vector<int64_t> forms = conv_forms(part, DeviceInfo{});
  return std::find(forms.begin(), forms.end(), form) != forms.end();
}

class InvertedResidualOnCuda final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kInvertedResidual; }

  SearchSpace space(const Problem& problem, const DeviceInfo& card) const override {
    const InvertedResidualParams parts = InvertedResidualParams::of(problem);
    const SlidingWindow narrow = SlidingWindow::of(parts.project);
    SearchSpace space = product_tile_space(starter_tile(narrow.out_channels, narrow.n * narrow.out_pixels(), 1, std::max(card.units, 1)), DType::kF32);
    const bool blocks = in_channel_blocks(problem), last = channels_last(problem);
    const bool known = has_form(parts.expand, kConvGemmForm) && has_form(parts.depthwise, kConvDepthwiseForm) && has_form(parts.project, kConvGemmForm);
    space.refuse = [=](const Knobs& k) -> std::string {
      if (blocks) return "a card has no form for channel blocks";
      if (last) return "a card has no form of this kind over channels last";
      return known ? refused_tile(k, DType::kF32) : "not a depthwise convolution between two that are products";
    };
    return space;
  }

  std::string source(const Variant& variant, const DeviceInfo&) const override {
    const InvertedResidualParams parts = InvertedResidualParams::of(variant.problem);
    Knobs knobs = variant.knobs;
    knobs["SPLIT_K"] = 1;
    std::string text = cuda_opening(variant.problem);
    size_t next = 4;  // behind x and the three weights
    const auto part = [&](const char* name, const char* extras, const Problem& convolution, int64_t form) {
      text += fmt::format("namespace {} {{\n{}}}\n#define {}", name, conv_text(convolution, form, knobs), extras);
      for (size_t i = kOwnOperands; i < convolution.in.size(); ++i) text += fmt::format(", o.in[{}]", next++);
      text += "\n";
    };
    part("expand", "EXPAND_EXTRAS", parts.expand, kConvGemmForm);
    part("depthwise", "DEPTHWISE_EXTRAS", parts.depthwise, kConvDepthwiseForm);
    part("project", "PROJECT_EXTRAS", parts.project, kConvGemmForm);
    return join_text({text, std::string(cuda_text("inverted_residual.cu"))});
  }
};

}  // namespace

const KernelImplementation* inverted_residual_on_cuda() {
  static const InvertedResidualOnCuda implementation;
  return &implementation;
}

}  // namespace amdahl
