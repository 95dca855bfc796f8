// The softmax kind: Softmax and LogSoftmax along one axis.
//
// in[0 … p-1]: the inputs of the prologue (p = 1 without), in[p …]: extra inputs of the epilogue; out[0]; all Accesses over
// out[0].shape.

#include "starter_kernels/kinds/softmax.h"

#include "graph/graph.h"
#include "starter_kernels/examples/example_graph.h"
#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/kinds/kernel_kinds.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/param_json.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {
namespace {

class Softmax final : public KernelKind {
 public:
  std::string_view name() const override { return kind::kSoftmax; }
  std::string_view summary() const override { return "softmax and log-softmax along one axis"; }
  Traits traits() const override { return {.family = Traits::Family::kRows, .has_expression = true, .has_epilogue = true, .writes_strides = true}; }

  Work work(const Problem& problem) const override {
    Work w{20.0 * static_cast<double>(numel(problem.out[0].shape)), operand_bytes(problem.out[0])};
    for (const Access& a : problem.in) w.bytes += operand_bytes(a);
    return w;
  }

  std::optional<Lowering> lower(const Graph& graph, const Node& node, int threads) const override {
    if (!node.domain.empty() || (node.op != "Softmax" && node.op != "LogSoftmax")) return std::nullopt;
    Shape shape = graph.value(node.inputs[0]).shape;
    int64_t axis = node.attr_int("axis", node.version >= 13 ? -1 : 1);
    if (axis < 0) axis += static_cast<int64_t>(shape.size());
    if (node.version < 13) {  // a matrix, flattened at `axis`
      const auto at = shape.begin() + axis;
      shape = {numel(Shape(shape.begin(), at)), numel(Shape(at, shape.end()))};
      axis = 1;
    }
    const Value& x = graph.value(node.inputs[0]);
    Lowering l;
    l.inputs = {node.inputs[0]};
    l.outputs = {node.outputs[0]};
    Problem& p = l.variant.problem;
    p.kind = name();
    p.threads = threads;
    if (shape.empty()) shape = {1}, axis = 0;
    p.in = {Access::dense(x.dtype, shape, x.constant.has_value())};
    p.out = {Access::dense(x.dtype, shape)};
    SoftmaxParams{axis, node.op == "LogSoftmax"}.write(p);
    return l;
  }

  std::vector<Graph> examples() const override { return row_examples(name()); }
};

}  // namespace

SoftmaxParams SoftmaxParams::of(const Problem& problem) { return {problem.params.at("axis").get<int64_t>(), problem.params.value("log", false)}; }

void SoftmaxParams::write(Problem& problem) const {
  problem.params["axis"] = axis;
  put_param(problem.params, "log", log, true);
}

const KernelKind* softmax_kind() {
  static const Softmax kind;
  return &kind;
}

}  // namespace amdahl
