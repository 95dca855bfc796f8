// Convolution: in[0] = x [N, C, spatial…], in[1] = w [O, C/G, taps…] ([C, O/G, taps…] transposed), out[0] = [N, O,
// spatial…]. Has an epilogue (in[2] …); a Conv's bias is its first operation.
//
// Which text computes it is the knob ALGORITHM. The f32 texts want dense operands; anything else is the generic text's.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "graph/op.h"
#include "starter_kernels/kinds/conv_algorithms.h"
#include "starter_kernels/kinds/conv_epilogue.h"
#include "starter_kernels/examples/conv_examples.h"
#include "starter_kernels/kinds/embedded_sources.h"
#include "starter_kernels/kinds/formats.h"
#include "starter_kernels/kinds/gemm_prelude.h"
#include "starter_kernels/kinds/kernel_kinds.h"
#include "starter_kernels/kinds/matmul_strassen.h"
#include "starter_kernels/kinds/pointwise.h"
#include "starter_kernels/kinds/sliding_window.h"

namespace amdahl {
namespace {

// A 1x1 convolution as the product that it is: pixels x channels by channels x output channels.
std::string source_in_halves(const Variant& variant, const SlidingWindow& g) {
  const Problem& problem = variant.problem;
  std::string text = gemm_types(DType::kF32, {DType::kF32, DType::kF32, DType::kF32});
  const auto constant = [&](const char* name, int64_t value) { text += fmt::format("constexpr int64_t {} = {};\n", name, value); };
  constant("M", g.out_pixels()), constant("N", g.out_channels), constant("K", g.channels), constant("O", g.out_channels);
  constant("A_OFFSET", 0), constant("A_ROW", 0), constant("A_COL", 1), constant("C_OFFSET", 0);
  constant("B_OFFSET", 0), constant("B_ROW", 1), constant("B_COL", g.channels);
  constant("THREADS", problem.threads), constant("BLOCK", channel_block(format_of_output(problem, 0)));
  for (const auto& [knob, value] : variant.knobs) constant(knob.c_str(), value);
  return text + emit_finish_block(problem, channel_block(format_of_output(problem, 0))) + gemm_schedule(variant) +
         std::string(embedded_source("cpu/sizes.h")) + std::string(embedded_source("cpu/gemm_tile.h")) + "#define ON_BLOCKS\n" + strassen_text(variant);
}

class Conv : public KernelKind {
 public:
  std::string_view name() const override { return "conv"; }
  std::string_view summary() const override {
    return "convolution (grouped, depthwise, dilated, transposed) with epilogue";
  }

  Work work(const Problem& problem) const override {
    const SlidingWindow g = SlidingWindow::of(problem);
    const double pixels = static_cast<double>(is_transposed_conv(problem) ? g.in_pixels() : g.out_pixels());
    Work w;
    w.flops = 2.0 * static_cast<double>(g.n * g.channels / g.groups * g.out_channels * g.taps()) * pixels;
    for (const auto* side : {&problem.in, &problem.out})
      for (const Access& a : *side)
        w.bytes += static_cast<double>(numel(a.shape) * static_cast<int64_t>(size_of(a.dtype)));
    halve(problem, w);
    return w;
  }

  SearchSpace space(const Problem& problem, const MachineInfo& machine) const override {
    return conv_space(problem, machine);
  }

  std::string source(const Variant& variant) const override {
    const Problem& problem = variant.problem;
    const SlidingWindow g = SlidingWindow::of(problem);
    const std::string refusal = space(problem, this_machine()).refuse(variant.knobs);
    if (!refusal.empty()) throw Error(ExitCode::kInternal, "conv: " + refusal);
    if (variant.knobs.at("ALGORITHM") == kConvStrassen) return source_in_halves(variant, g);
    std::string text = "#include <omp.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <math.h>\n\n" +
                       g.constants() + fmt::format("constexpr int THREADS = {};\n", problem.threads);
    for (const auto& [knob, value] : variant.knobs) text += fmt::format("constexpr int64_t {} = {};\n", knob, value);
    switch (variant.knobs.at("ALGORITHM")) {
      case kConvIm2col:
      case kConvDirect:
        if (!variant.knobs.count("PACK_W")) text += "constexpr int64_t PACK_W = 0;\n";
        return text + emit_finish(problem, g) + std::string(embedded_source("cpu/conv_prepare.h")) +
               std::string(embedded_source(variant.knobs.at("ALGORITHM") == kConvDirect ? "cpu/conv_direct.cpp"
                                                                                        : "cpu/conv_im2col.cpp"));
      case kConvDepthwise:
        return text + emit_finish(problem, g) + std::string(embedded_source("cpu/conv_prepare.h")) +
               std::string(embedded_source("cpu/conv_depthwise.cpp"));
      case kConvWinograd: {
        const int64_t stored = channel_block(format_of_output(problem, 0)), block = stored > 0 ? stored : variant.knobs.at("VLEN");
        text += fmt::format("constexpr int64_t BLOCK = {};\nconstexpr bool IN_BLOCKED = {};\n#define WINO_M_IS_2 {}\n",
                            block, !format_of_input(problem, 0).empty(), variant.knobs.at("WINO_M") == 2 ? 1 : 0);
        return text + emit_store_block(problem, g, block) + std::string(embedded_source("cpu/conv_winograd.cpp"));
      }
      case kConvBlocked:
      case kConvBlockedDepthwise: {
        const int64_t block = channel_block(format_of_output(problem, 0));
        const bool depthwise = variant.knobs.at("ALGORITHM") == kConvBlockedDepthwise;
        if (!variant.knobs.count("PARTITION")) text += "constexpr int64_t PARTITION = 1;\n";  // of a plan from before there was a choice
        if (!depthwise && !variant.knobs.count("GATHER")) text += "constexpr int64_t GATHER = 0;\n";  // likewise, and of an image
        text += fmt::format("constexpr int64_t BLOCK = {};\nconstexpr bool IN_BLOCKED = {};\n", block,
                            !format_of_input(problem, 0).empty());
        text += emit_finish_block(problem, block);
        if (depthwise) return text + std::string(embedded_source("cpu/conv_blocked_depthwise.cpp"));
        return text + std::string(embedded_source("cpu/blocked_tile.h")) + std::string(embedded_source("cpu/conv_blocked.cpp"));
      }
    }
    return text + fmt::format("constexpr bool TRANSPOSED = {};\n", is_transposed_conv(problem)) +
           emit_element_access(problem, g) + std::string(embedded_source("cpu/conv_generic.cpp"));
  }

  std::optional<Lowering> lower(const Graph& graph, const Node& node, int threads) const override {
    if (!node.domain.empty() || (node.op != "Conv" && node.op != "ConvTranspose")) return std::nullopt;
    const Value &x = graph.value(node.inputs[0]), &w = graph.value(node.inputs[1]), &y = graph.value(node.outputs[0]);
    const size_t rank = x.shape.size();
    if (!is_float(x.dtype) || rank < 3) return std::nullopt;
    if (rank > 5) throw Refusal("convolution over more than three spatial dimensions");
    Lowering lowering;
    Problem& problem = lowering.variant.problem;
    problem.kind = "conv";
    problem.threads = threads;
    problem.in = {Access::dense(x.dtype, x.shape), Access::dense(w.dtype, w.shape, graph.is_constant(node.inputs[1]))};
    problem.out = {Access::dense(y.dtype, y.shape)};
    const bool transposed = node.op == "ConvTranspose";
    problem.params = window_params(graph, node, {w.shape.begin() + 2, w.shape.end()}, transposed);
    problem.params["group"] = node.attr_int("group", 1);
    if (transposed) problem.params["transposed"] = true;
    lowering.inputs = {node.inputs[0], node.inputs[1]};
    lowering.outputs = {node.outputs[0]};
    if (node.inputs.size() > 2 && node.inputs[2] != kNoValue) {
      Shape strides(rank, 0);
      strides[1] = 1;
      problem.in.push_back({x.dtype, y.shape, strides, 0, graph.is_constant(node.inputs[2])});
      const DType sum = x.dtype == DType::kF64 ? DType::kF64 : DType::kF32;
      PointwiseProgram bias{2, {sum, x.dtype}, {{"add", {0, 1}, y.dtype}}, {2}};
      problem.params["epilogue"] = bias;
      lowering.inputs.push_back(node.inputs[2]);
    }
    lowering.variant.knobs = space(problem, this_machine()).starters();
    return lowering;
  }

  std::vector<Graph> examples() const override { return conv_examples(); }
};

}  // namespace

const KernelKind* conv_kind() {
  static const Conv kind;
  return &kind;
}

}  // namespace amdahl
