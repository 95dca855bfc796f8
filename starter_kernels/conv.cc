// Convolution: in[0] = x [N, C, spatial…], in[1] = w [O, C/G, taps…] ([C, O/G, taps…] transposed), out[0] = [N, O, spatial…].
// Has an epilogue (in[2] …); a Conv's bias is its first operation.
//
// Which text computes it is the knob ALGORITHM. The f32 texts want dense operands; anything else is the generic text's.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "graph/op.h"
#include "starter_kernels/conv_epilogue.h"
#include "starter_kernels/conv_examples.h"
#include "starter_kernels/embedded_sources.h"
#include "starter_kernels/kernel_kinds.h"
#include "starter_kernels/pointwise.h"
#include "starter_kernels/sliding_window.h"

namespace amdahl {
namespace {

enum Algorithm : int64_t { kGeneric = 0, kIm2col = 1, kDepthwise = 3 };

bool is_transposed(const Problem& problem) { return problem.params.value("transposed", false); }

bool is_dense_f32(const Problem& problem) {
  const auto good = [](const Access& a) { return a.dtype == DType::kF32 && a.is_dense(); };
  return good(problem.in[0]) && good(problem.in[1]) && good(problem.out[0]);
}

// The algorithms that can compute this problem, the starter first.
std::vector<int64_t> algorithms(const Problem& problem) {
  const SlidingWindow g = SlidingWindow::of(problem);
  if (is_transposed(problem) || !is_dense_f32(problem) || g.empty()) return {kGeneric};
  if (g.is_depthwise()) return {kDepthwise};
  return {kIm2col};
}

struct VectorUnit {
  std::vector<int64_t> widths;  // floats
  int64_t registers;
};
VectorUnit vector_unit(const MachineInfo& machine) {
  if (machine.has("avx512f")) return {{8, 16}, 32};
  return {{8}, 16};
}

// The largest of `values` that `fits`, else the first.
template <typename Fits>
int64_t largest(const std::vector<int64_t>& values, Fits fits) {
  int64_t best = values.front();
  for (int64_t v : values)
    if (fits(v)) best = v;
  return best;
}

SearchSpace im2col_space(const Problem& problem, const SlidingWindow& g, const MachineInfo& machine) {
  const VectorUnit unit = vector_unit(machine);
  const bool wide = unit.registers == 32;
  const int64_t vlen = unit.widths.back(), mr = wide ? 8 : 6, nv = wide ? 3 : 2;
  const int64_t pixel_vectors = g.groups * ((g.out_pixels() + vlen - 1) / vlen);
  const std::vector<int64_t> kcs{64, 128, 192, 256, 384, 512, 1024}, panels{1, 2, 4, 8, 16};
  const int64_t og = g.out_channels / g.groups;
  SearchSpace space;
  space.knobs = {
      {"ALGORITHM", algorithms(problem), kIm2col, "0 generic, 1 im2col, 3 depthwise"},
      {"VLEN", unit.widths, vlen, "floats a vector"},
      {"MR", wide ? std::vector<int64_t>{4, 6, 8, 12, 14} : std::vector<int64_t>{2, 4, 6}, mr, "output channels a tile"},
      {"NV", wide ? std::vector<int64_t>{1, 2, 3, 4} : std::vector<int64_t>{1, 2}, nv, "pixel vectors a tile"},
      {"KC", kcs, largest(kcs, [&](int64_t kc) { return kc * nv * vlen * 4 <= machine.l1d_bytes * 3 / 4; }),
       "rows of the im2col matrix in a packed panel"},
      {"PANELS", panels, largest(panels, [&](int64_t p) { return p * nv * vlen * og * 4 <= machine.l2_bytes / 2; }),
       "pixel panels that share one pass over KC columns of w"},
      {"PARTITION", {0, 1}, pixel_vectors < 8 * problem.threads, "threads share 0: pixels, 1: output channels"},
      {"PREFETCH", {0, 8, 16, 32}, 0, "steps of k by which packed weights are prefetched"},
  };
  if (problem.in[1].constant) space.knobs.push_back({"PACK_W", {0, 1}, 1, "weights in tile order, packed at load"});
  space.refuse = [registers = unit.registers](const Knobs& k) -> std::string {
    const int64_t need = k.at("MR") * k.at("NV") + k.at("NV") + 1;
    if (need > registers) return fmt::format("a {}x{} tile needs {} vector registers of {}", k.at("MR"), k.at("NV"), need, registers);
    return "";
  };
  return space;
}

SearchSpace depthwise_space(const Problem& problem, const SlidingWindow& g, const MachineInfo& machine) {
  const VectorUnit unit = vector_unit(machine);
  const int64_t vlen = unit.widths.back();
  // Lanes that do no work in the last vector of a row make the flat form worth its extra pass.
  const bool ragged = g.out[2] % vlen != 0 && g.out[2] < 4 * vlen;
  SearchSpace space;
  space.knobs = {
      {"ALGORITHM", algorithms(problem), kDepthwise, "0 generic, 1 im2col, 3 depthwise"},
      {"VLEN", unit.widths, vlen, "floats a vector"},
      {"NV", {1, 2, 4}, ragged ? 4 : 1, "vectors of a row summed together"},
      {"TR", {1, 2, 3, 4}, ragged ? 1 : 4, "output rows that share the input rows they load"},
      {"FLAT", {0, 1}, ragged, "1: all output rows as one row of the padded width"},
  };
  space.refuse = [registers = unit.registers](const Knobs& k) -> std::string {
    if (k.at("FLAT") && k.at("TR") > 1) return "FLAT has one row: TR must be 1";
    const int64_t need = k.at("TR") * k.at("NV") + k.at("NV") + 1;
    if (need > registers) return fmt::format("{} accumulators need {} vector registers of {}", k.at("TR") * k.at("NV"), need, registers);
    return "";
  };
  return space;
}

class Conv : public KernelKind {
 public:
  std::string_view name() const override { return "conv"; }
  std::string_view summary() const override { return "convolution (grouped, depthwise, dilated, transposed) with epilogue"; }

  Work work(const Problem& problem) const override {
    const SlidingWindow g = SlidingWindow::of(problem);
    const double pixels = static_cast<double>(is_transposed(problem) ? g.in_pixels() : g.out_pixels());
    Work w;
    w.flops = 2.0 * static_cast<double>(g.n * g.channels / g.groups * g.out_channels * g.taps()) * pixels;
    for (const auto* side : {&problem.in, &problem.out})
      for (const Access& a : *side) w.bytes += static_cast<double>(numel(a.shape) * static_cast<int64_t>(size_of(a.dtype)));
    return w;
  }

  SearchSpace space(const Problem& problem, const MachineInfo& machine) const override {
    const SlidingWindow g = SlidingWindow::of(problem);
    switch (algorithms(problem).front()) {
      case kIm2col: return im2col_space(problem, g, machine);
      case kDepthwise: return depthwise_space(problem, g, machine);
    }
    return {{{"ALGORITHM", {kGeneric}, kGeneric, "0 generic"}}, [](const Knobs&) { return std::string(); }};
  }

  std::string source(const Variant& variant) const override {
    const Problem& problem = variant.problem;
    const SlidingWindow g = SlidingWindow::of(problem);
    const std::string refusal = space(problem, this_machine()).refuse(variant.knobs);
    if (!refusal.empty()) throw Error(ExitCode::kInternal, "conv: " + refusal);
    std::string text = "#include <omp.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <math.h>\n\n" + g.constants() +
                       fmt::format("constexpr int THREADS = {};\n", problem.threads);
    for (const auto& [knob, value] : variant.knobs) text += fmt::format("constexpr int64_t {} = {};\n", knob, value);
    switch (variant.knobs.at("ALGORITHM")) {
      case kIm2col:
        if (!variant.knobs.count("PACK_W")) text += "constexpr int64_t PACK_W = 0;\n";
        return text + emit_finish(problem, g) + std::string(embedded_source("cpu/conv_prepare.h")) +
               std::string(embedded_source("cpu/conv_im2col.cpp"));
      case kDepthwise:
        return text + emit_finish(problem, g) + std::string(embedded_source("cpu/conv_prepare.h")) +
               std::string(embedded_source("cpu/conv_depthwise.cpp"));
    }
    return text + fmt::format("constexpr bool TRANSPOSED = {};\n", is_transposed(problem)) +
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
