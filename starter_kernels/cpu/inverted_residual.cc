// How a CPU computes the inverted_residual kind (starter_kernels/kinds/inverted_residual.cc).

#include "starter_kernels/cpu/inverted_residual.h"

#include <fmt/format.h>

#include <utility>

#include "base/device_info.h"
#include "starter_kernels/cpu/conv_algorithms.h"
#include "starter_kernels/cpu/conv_epilogue.h"
#include "starter_kernels/cpu/cpu_kernels.h"
#include "starter_kernels/cpu/cpu_text.h"
#include "starter_kernels/cpu/tile_cycles.h"
#include "starter_kernels/cpu/vector_width.h"
#include "starter_kernels/cpu/window_constants.h"
#include "starter_kernels/kinds/formats.h"
#include "starter_kernels/kinds/inverted_residual.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"
#include "starter_kernels/kinds/sliding_window.h"
#include "starter_kernels/kinds/target.h"

namespace amdahl {
namespace {

// A row's tiles of a 1x1 convolution as the counted cycles have them best.
struct Tiling {
  int64_t px = 1, ocv = 1;
};

Tiling best_tiling(int64_t columns, int64_t blocks, const std::vector<int64_t>& pxs, const std::vector<int64_t>& ocvs, int64_t registers) {
  Tiling best;
  for (int64_t ocv : ocvs)
    for (int64_t px : pxs)
      if (px * ocv + ocv + (ocv > 1) <= registers && tile_cycles(columns, blocks, px, ocv) < tile_cycles(columns, blocks, best.px, best.ocv)) best = {px, ocv};
  return best;
}

constexpr size_t kOwnOperands = 2;  // x and w of a convolution

class InvertedResidualOnCpu final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kInvertedResidual; }

  SearchSpace space(const Problem& problem, const DeviceInfo& device) const override {
    const InvertedResidualParams parts = InvertedResidualParams::of(problem);
    const SlidingWindow wide = SlidingWindow::of(parts.depthwise), project = SlidingWindow::of(parts.project);
    const int64_t channels = problem.in[0].shape[1], registers = vector_unit(device).registers, block = channel_block(format_of_output(problem, 0));
    const int64_t wide_blocks = (wide.channels + block - 1) / block, out_blocks = (project.out_channels + block - 1) / block;
    const std::vector<int64_t> pxs{2, 4, 6, 7, 8, 12, 14, 28}, ocvs{1, 2, 3, 4};
    const Tiling expand = best_tiling(wide.in[2], wide_blocks, pxs, ocvs, registers), narrow = best_tiling(wide.out[2], out_blocks, pxs, ocvs, registers);
    SearchSpace space;
    space.knobs = {
        {"EXPAND_PX", pxs, expand.px, "pixels a tile where channels are widened"},
        {"EXPAND_OCV", ocvs, expand.ocv, "blocks of wide channels a tile"},
        {"PROJECT_PX", pxs, narrow.px, "pixels a tile where channels are narrowed"},
        {"PROJECT_OCV", ocvs, narrow.ocv, "blocks of narrow channels a tile"},
        {"DEPTHWISE_PX", {2, 4, 6, 7, 8, 14}, 4, "pixels of a row that the depthwise convolution sums together"},
        {"UNROLL", {1, 2, 4, 8}, 2, "input channels unrolled"},
    };
    const auto count = [=](const Knobs& k) {
      const double widen = static_cast<double>(channels * wide.in[1]) * tile_cycles(wide.in[2], wide_blocks, k.at("EXPAND_PX"), k.at("EXPAND_OCV"));
      return widen + static_cast<double>(wide.channels * wide.out[1]) * tile_cycles(wide.out[2], out_blocks, k.at("PROJECT_PX"), k.at("PROJECT_OCV"));
    };
    space.cycles = count;
    space.refuse = [registers](const Knobs& k) -> std::string {
      for (const std::string part : {"EXPAND", "PROJECT"}) {
        const int64_t px = k.at(part + "_PX"), ocv = k.at(part + "_OCV");
        if (px * ocv + ocv + (ocv > 1) > registers) return fmt::format("{}: {}x{} accumulators do not fit the registers", part, px, ocv);
      }
      return "";
    };
    return space;
  }

  std::string source(const Variant& variant, const DeviceInfo&) const override {
    const Problem& problem = variant.problem;
    const int64_t block = channel_block(format_of_output(problem, 0));
    std::string text = "#include <omp.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n#include <math.h>\n\n";
    text += fmt::format("constexpr int THREADS = {};\nconstexpr int64_t BLOCK = {};\n", problem.threads, block);
    for (const auto& [knob, value] : variant.knobs) text += fmt::format("constexpr int64_t {} = {};\n", knob, value);
    const InvertedResidualParams parts = InvertedResidualParams::of(problem);
    for (const auto& [name, part] : {std::pair{"expand", &parts.expand}, std::pair{"depthwise", &parts.depthwise}, std::pair{"project", &parts.project}})
      text += fmt::format("\nnamespace {} {{\n{}{}}}\n", name, window_constants(SlidingWindow::of(*part)), emit_finish_block(*part, block));
    const auto extras = [](const Problem& part) { return part.in.size() - kOwnOperands; };
    text += fmt::format("constexpr int EXPAND_EXTRAS = {}, DEPTHWISE_EXTRAS = {}, PROJECT_EXTRAS = {};\n", extras(parts.expand), extras(parts.depthwise),
                        extras(parts.project));
    for (const char* source : {"sizes.h", "blocked_tile.h", "inverted_residual.cpp"}) text += cpu_text(source);
    return text;
  }
};

}  // namespace

std::string refused_as_inverted_residual(const Problem& expand, const Problem& depthwise, const Problem& project, const DeviceInfo& device) {
  const int64_t block = channel_block(format_of_output(project, 0));
  if (block == 0) return "not on channel blocks";
  for (const Problem* p : {&expand, &depthwise, &project}) {
    if (p->kind != kind::kConv) return "not three convolutions";
    if (!declared_algorithm(*p).empty()) return "an algorithm of other bounds is declared";
    if (channel_block(format_of_input(*p, 0)) != block || channel_block(format_of_output(*p, 0)) != block || conv_algorithms(*p, device).empty())
      return "not on channel blocks";
  }
  const SlidingWindow first = SlidingWindow::of(expand), wide = SlidingWindow::of(depthwise), last = SlidingWindow::of(project);
  if (!wide.is_depthwise() || wide.out_channels != wide.channels || wide.dilation != SlidingWindow::Sizes{1, 1, 1})
    return "the one between is not depthwise, or dilated";
  if (!first.is_pointwise() || !last.is_pointwise() || first.groups != 1 || last.groups != 1) return "not between two 1x1 convolutions";
  return "";
}

const KernelImplementation* inverted_residual_on_cpu() {
  static const InvertedResidualOnCpu implementation;
  return &implementation;
}

}  // namespace amdahl
