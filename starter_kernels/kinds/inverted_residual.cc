// inverted_residual: y = project(depthwise(expand(x))), three convolutions with their epilogues; float32 on channel blocks, constant weights.
//
// in[0] = x [N, C, H, W], in[1] = w [E, C, 1, 1], in[2] = w [E, 1, KH, KW], in[3] = w [O, E, 1, 1]; then the extra operands of each convolution's
// epilogue in turn, accesses over its own output; out[0] = y [N, O, OH, OW]. No single node is this kind: a rewrite makes it.

#include "starter_kernels/kinds/inverted_residual.h"

#include <fmt/format.h>

#include <array>

#include "starter_kernels/kinds/conv_algorithms.h"
#include "starter_kernels/kinds/conv_epilogue.h"
#include "starter_kernels/kinds/embedded_sources.h"
#include "starter_kernels/kinds/formats.h"
#include "starter_kernels/kinds/kernel_kinds.h"
#include "starter_kernels/kinds/sliding_window.h"
#include "starter_kernels/kinds/tile_cycles.h"

namespace amdahl {
namespace {

constexpr std::array<const char*, 3> kParts{"expand", "depthwise", "project"};
constexpr size_t kOwn = 2;  // x and w of a convolution

Problem part_of(const Problem& problem, const char* part) { return problem.params.at(part).get<Problem>(); }

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

class InvertedResidual : public KernelKind {
 public:
  std::string_view name() const override { return "inverted_residual"; }
  std::string_view summary() const override { return "convolutions 1x1, depthwise and 1x1, row by row, what lies between in L2"; }

  Work work(const Problem& problem) const override {
    Work work;
    for (const char* part : kParts) work.flops += kernel_kind("conv").work(part_of(problem, part)).flops;
    for (const auto* side : {&problem.in, &problem.out})
      for (const Access& a : *side) work.bytes += static_cast<double>(numel(a.shape) * static_cast<int64_t>(size_of(a.dtype)));
    return work;
  }

  SearchSpace space(const Problem& problem, const MachineInfo& machine) const override {
    const SlidingWindow wide = SlidingWindow::of(part_of(problem, "depthwise")), project = SlidingWindow::of(part_of(problem, "project"));
    const int64_t channels = problem.in[0].shape[1], registers = machine.has("avx512f") ? 32 : 16, block = channel_block(format_of_output(problem, 0));
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

  std::string source(const Variant& variant) const override {
    const Problem& problem = variant.problem;
    const int64_t block = channel_block(format_of_output(problem, 0));
    std::string text = "#include <omp.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n#include <math.h>\n\n";
    text += fmt::format("constexpr int THREADS = {};\nconstexpr int64_t BLOCK = {};\n", problem.threads, block);
    for (const auto& [knob, value] : variant.knobs) text += fmt::format("constexpr int64_t {} = {};\n", knob, value);
    for (const char* part : kParts) {
      const Problem convolution = part_of(problem, part);
      text += fmt::format("\nnamespace {} {{\n{}{}}}\n", part, SlidingWindow::of(convolution).constants(), emit_finish_block(convolution, block));
    }
    const auto extras = [&](const char* part) { return part_of(problem, part).in.size() - kOwn; };
    text += fmt::format("constexpr int EXPAND_EXTRAS = {}, DEPTHWISE_EXTRAS = {}, PROJECT_EXTRAS = {};\n", extras("expand"), extras("depthwise"), extras("project"));
    for (const char* source : {"cpu/sizes.h", "cpu/blocked_tile.h", "cpu/inverted_residual.cpp"}) text += embedded_source(source);
    return text;
  }

  std::optional<Lowering> lower(const Graph&, const Node&, int) const override { return std::nullopt; }
  std::vector<Graph> examples() const override { return {}; }
};

}  // namespace

std::string refused_as_inverted_residual(const Problem& expand, const Problem& depthwise, const Problem& project) {
  const int64_t block = channel_block(format_of_output(project, 0));
  if (block == 0) return "not on channel blocks";
  for (const Problem* p : {&expand, &depthwise, &project}) {
    if (p->kind != "conv") return "not three convolutions";
    if (p->params.contains("declared")) return "an algorithm of other bounds is declared";
    if (channel_block(format_of_input(*p, 0)) != block || channel_block(format_of_output(*p, 0)) != block || conv_algorithms(*p).empty())
      return "not on channel blocks";
  }
  const SlidingWindow first = SlidingWindow::of(expand), wide = SlidingWindow::of(depthwise), last = SlidingWindow::of(project);
  if (!wide.is_depthwise() || wide.out_channels != wide.channels || wide.dilation != SlidingWindow::Sizes{1, 1, 1}) return "the one between is not depthwise, or dilated";
  if (!first.is_pointwise() || !last.is_pointwise() || first.groups != 1 || last.groups != 1) return "not between two 1x1 convolutions";
  return "";
}

Problem inverted_residual_problem(const Problem& expand, const Problem& depthwise, const Problem& project) {
  Problem fused;
  fused.kind = "inverted_residual";
  fused.threads = project.threads;
  fused.in = {expand.in[0], expand.in[1], depthwise.in[1], project.in[1]};
  fused.out = project.out;
  std::vector<std::string> formats{format_of_input(expand, 0), "", "", ""};
  for (const Problem* part : {&expand, &depthwise, &project})
    for (size_t i = kOwn; i < part->in.size(); ++i) {
      fused.in.push_back(part->in[i]);
      formats.push_back(format_of_input(*part, i));
    }
  fused.params = {{"expand", expand}, {"depthwise", depthwise}, {"project", project}};
  set_formats(fused, formats, {format_of_output(project, 0)});
  return fused;
}

const KernelKind* inverted_residual_kind() {
  static const InvertedResidual kind;
  return &kind;
}

}  // namespace amdahl
