// Convolution: in[0] = x [N, C, spatial…], in[1] = w [O, C/G, taps…] ([C, O/G, taps…] transposed), out[0] = [N, O,
// spatial…]. Has an epilogue (in[2] …); a Conv's bias is its first operation. Of bytes (ConvInteger), x is u8 and w i8, and sums are int32.
//
// Which text computes it is the knob ALGORITHM. The f32 texts want dense operands; anything else is the generic text's.

#include "starter_kernels/kinds/conv.h"

#include "graph/graph.h"
#include "graph/op.h"
#include "starter_kernels/examples/conv_examples.h"
#include "starter_kernels/kinds/halved_work.h"
#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/kinds/kernel_kinds.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/param_json.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/sliding_window.h"

namespace amdahl {
namespace {

class Conv : public KernelKind {
 public:
  std::string_view name() const override { return kind::kConv; }
  std::string_view summary() const override { return "convolution (grouped, depthwise, dilated, transposed) with epilogue"; }
  Traits traits() const override { return {.family = Traits::Family::kProducts, .is_product = true, .has_epilogue = true}; }

  Work work(const Problem& problem) const override {
    const SlidingWindow g = SlidingWindow::of(problem);
    const double pixels = static_cast<double>(ConvParams::of(problem).transposed ? g.in_pixels() : g.out_pixels());
    Work w;
    w.flops = 2.0 * static_cast<double>(g.n * g.channels / g.groups * g.out_channels * g.taps()) * pixels;
    for (const auto* side : {&problem.in, &problem.out})
      for (const Access& a : *side) w.bytes += static_cast<double>(numel(a.shape) * static_cast<int64_t>(size_of(a.dtype)));
    halve(problem, w);
    return w;
  }

  std::optional<Lowering> lower(const Graph& graph, const Node& node, int threads) const override {
    if (!node.domain.empty() || (node.op != "Conv" && node.op != "ConvTranspose" && node.op != "ConvInteger")) return std::nullopt;
    const Value &x = graph.value(node.inputs[0]), &w = graph.value(node.inputs[1]), &y = graph.value(node.outputs[0]);
    const size_t rank = x.shape.size();
    if ((!is_float(x.dtype) && node.op != "ConvInteger") || rank < 3) return std::nullopt;
    if (rank > 5) throw Refusal("convolution over more than three spatial dimensions");
    Lowering lowering;
    Problem& problem = lowering.variant.problem;
    problem.kind = kind::kConv;
    problem.threads = threads;
    problem.in = {Access::dense(x.dtype, x.shape), Access::dense(w.dtype, w.shape, graph.is_constant(node.inputs[1]))};
    problem.out = {Access::dense(y.dtype, y.shape)};
    const bool transposed = node.op == "ConvTranspose";
    ConvParams{window_params(graph, node, {w.shape.begin() + 2, w.shape.end()}, transposed), node.attr_int("group", 1), transposed}.write(problem);
    lowering.inputs = {node.inputs[0], node.inputs[1]};
    lowering.outputs = {node.outputs[0]};
    if (node.inputs.size() > 2 && node.inputs[2] != kNoValue) {
      Shape strides(rank, 0);
      strides[1] = 1;
      problem.in.push_back({x.dtype, y.shape, strides, 0, graph.is_constant(node.inputs[2])});
      const DType sum = x.dtype == DType::kF64 ? DType::kF64 : DType::kF32;
      set_epilogue(problem, PointwiseProgram{2, {sum, x.dtype}, {{"add", {0, 1}, y.dtype}}, {2}});
      lowering.inputs.push_back(node.inputs[2]);
    }
    return lowering;
  }

  std::vector<Graph> examples() const override { return conv_examples(); }
};

}  // namespace

ConvParams ConvParams::of(const Problem& problem) {
  return {WindowParams::of(problem), problem.params.value("group", int64_t{1}), problem.params.value("transposed", false)};
}

void ConvParams::write(Problem& problem) const {
  window.write(problem);
  problem.params["group"] = group;
  put_param(problem.params, "transposed", transposed, true);
}

const KernelKind* conv_kind() {
  static const Conv kind;
  return &kind;
}

}  // namespace amdahl
