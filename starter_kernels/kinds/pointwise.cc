// The pointwise kind. in[0 …]: inputs of the program, each an Access over the common shape; out[0 …]: its results,
// accesses over the same shape. Any element types.

#include "starter_kernels/kinds/pointwise.h"

#include "graph/graph.h"
#include "starter_kernels/examples/example_graph.h"
#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/kinds/kernel_kinds.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {
namespace {

bool is_batch_normalization(const Node& node) { return node.domain.empty() && node.op == "BatchNormalization"; }

// (x - mean) * (scale / sqrt(variance + epsilon)) + shift, of inputs x, scale, shift, mean, variance.
PointwiseProgram batch_normalization(std::vector<DType> input_types, double epsilon) {
  const DType type = input_types[0];
  PointwiseProgram p{5, std::move(input_types), {}, {}};
  const auto op = [&](const char* name, std::vector<int> args, double imm = 0) {
    p.ops.push_back({name, std::move(args), type, imm});
    return 4 + static_cast<int>(p.ops.size());
  };
  const int factor = op("div", {1, op("sqrt", {op("add", {4, op("const", {}, epsilon)})})});
  p.results = {op("add", {op("mul", {op("sub", {0, 3}), factor}), 2})};
  return p;
}

// Parameters lie along dimension 1, not along the last as in a broadcast.
Lowering lower_batch_normalization(const Graph& graph, const Node& node) {
  Lowering l;
  l.inputs.assign(node.inputs.begin(), node.inputs.begin() + 5);
  const Shape& shape = graph.value(node.inputs[0]).shape;
  Shape channels(shape.size() - 1, 1);
  channels[0] = shape[1];
  Problem& problem = l.variant.problem;
  std::vector<DType> types;
  for (ValueId v : l.inputs) {
    const DType type = graph.value(v).dtype;
    types.push_back(type);
    problem.in.push_back(broadcast_access(Access::dense(type, types.size() == 1 ? shape : channels, graph.is_constant(v)), shape));
  }
  PointwiseParams{batch_normalization(std::move(types), node.attr_float("epsilon", 1e-5))}.write(problem);
  return l;
}

// Whatever its shape, an empty tensor has the elements of a vector of none.
Access no_elements(DType dtype) { return Access::dense(dtype, {0}); }

class Pointwise final : public KernelKind {
 public:
  std::string_view name() const override { return kind::kPointwise; }
  std::string_view summary() const override { return "any broadcast expression, one pass over its operands"; }
  Traits traits() const override { return {.has_expression = true, .writes_strides = true}; }

  Work work(const Problem& problem) const override {
    Work w;
    w.flops = flops_of(PointwiseParams::of(problem).program) * static_cast<double>(numel(problem.out[0].shape));
    for (const Access& a : problem.in) w.bytes += operand_bytes(a);
    for (const Access& a : problem.out) w.bytes += operand_bytes(a);
    return w;
  }

  std::optional<Lowering> lower(const Graph& graph, const Node& node, int threads) const override {
    Lowering lowering;
    Problem& problem = lowering.variant.problem;
    if (is_batch_normalization(node)) {
      lowering = lower_batch_normalization(graph, node);
    } else {
      const PointwiseProgram program = program_of(graph, node);
      if (program.empty()) return std::nullopt;
      lowering.inputs = program_inputs(graph, node);
      for (ValueId v : lowering.inputs) problem.in.push_back(broadcast_access(graph, v, graph.value(node.outputs[0]).shape));
      PointwiseParams{program}.write(problem);
    }
    lowering.outputs = {node.outputs[0]};
    problem.kind = name();
    problem.threads = threads;
    problem.out.push_back(dense_access(graph, node.outputs[0]));
    return lowering;
  }

  std::vector<Graph> examples() const override { return pointwise_examples(); }
};

}  // namespace

PointwiseParams PointwiseParams::of(const Problem& problem) { return {problem.params.at("program").get<PointwiseProgram>()}; }

void PointwiseParams::write(Problem& problem) const { problem.params["program"] = program; }

std::optional<Lowering> lower_empty_outputs(const Graph& graph, const Node& node, int threads) {
  Lowering l;
  Problem& problem = l.variant.problem;
  PointwiseProgram program;
  for (ValueId v : node.outputs) {
    if (v == kNoValue) continue;
    const Value& value = graph.value(v);
    if (numel(value.shape) != 0) return std::nullopt;
    l.outputs.push_back(v);
    problem.out.push_back(no_elements(value.dtype));
    program.results.push_back(static_cast<int>(program.ops.size()));
    program.ops.push_back({"const", {}, value.dtype});
  }
  if (l.outputs.empty()) return std::nullopt;
  problem.kind = pointwise_kind()->name();
  problem.threads = threads;
  PointwiseParams{program}.write(problem);
  return l;
}

const KernelKind* pointwise_kind() {
  static const Pointwise kind;
  return &kind;
}

}  // namespace amdahl
