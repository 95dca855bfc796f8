// The reduce kind: ReduceSum, Mean, Max, Min, Prod, L1, L2, SumSquare, LogSum, LogSumExp over any axes.
//
// in[0 … p-1]: inputs of the prologue (p = 1 without), Accesses over the shape before the reduction; in[p …]: extra inputs
// of the epilogue, over out[0].shape, which has the reduced dimensions as 1.

#include "starter_kernels/kinds/reduce.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "graph/graph.h"
#include "graph/ops/reduction.h"
#include "starter_kernels/examples/example_graph.h"
#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/kinds/kernel_kinds.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {
namespace {

const std::set<std::string_view> kReductions{"sum", "mean", "max", "min", "prod", "l1", "l2", "sumsquare", "logsum", "logsumexp"};

class Reduce final : public KernelKind {
 public:
  std::string_view name() const override { return kind::kReduce; }
  std::string_view summary() const override { return "sums, extremes and norms over any axes"; }
  Traits traits() const override { return {.family = Traits::Family::kRows, .has_expression = true, .has_epilogue = true}; }

  Work work(const Problem& problem) const override {
    Work w{static_cast<double>(numel(problem.in[0].shape)) * (ReduceParams::of(problem).is_shifted() ? 17 : 2), operand_bytes(problem.out[0])};
    for (const Access& a : problem.in) w.bytes += operand_bytes(a);
    return w;
  }

  std::optional<Lowering> lower(const Graph& graph, const Node& node, int threads) const override {
    if (!node.domain.empty() || node.op.rfind("Reduce", 0) != 0) return std::nullopt;
    std::string op = node.op.substr(6);
    for (char& c : op) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (!kReductions.count(op)) return std::nullopt;
    const Value& x = graph.value(node.inputs[0]);
    std::vector<int64_t> axes = axes_of_reduction(graph, node);
    const auto rank = static_cast<int64_t>(x.shape.size());
    if (reduces_nothing(node, axes)) return std::nullopt;  // the pointwise kind's
    if (axes.empty())
      for (int64_t d = 0; d < rank; ++d) axes.push_back(d);
    Shape kept = x.shape;
    for (int64_t& axis : axes) {
      if (axis < 0) axis += rank;
      kept[static_cast<size_t>(axis)] = 1;
    }
    std::sort(axes.begin(), axes.end());
    Lowering l;
    l.inputs = {node.inputs[0]};
    l.outputs = {node.outputs[0]};
    Problem& p = l.variant.problem;
    p.kind = name();
    p.threads = threads;
    p.in = {dense_access(graph, node.inputs[0])};
    p.out = {Access::dense(x.dtype, kept)};
    ReduceParams{op, axes}.write(p);
    return l;
  }

  std::vector<Graph> examples() const override { return row_examples(name()); }
};

}  // namespace

ReduceParams ReduceParams::of(const Problem& problem) {
  return {problem.params.at("op").get<std::string>(), problem.params.at("axes").get<std::vector<int64_t>>()};
}

void ReduceParams::write(Problem& problem) const {
  problem.params["op"] = op;
  problem.params["axes"] = axes;
}

const KernelKind* reduce_kind() {
  static const Reduce kind;
  return &kind;
}

}  // namespace amdahl
