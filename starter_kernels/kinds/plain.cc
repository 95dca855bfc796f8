#include "starter_kernels/kinds/plain.h"

#include "graph/graph.h"
#include "graph/op.h"
#include "starter_kernels/examples/example_graph.h"
#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/kinds/kernel_kinds.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {
namespace {

class Plain : public KernelKind {
 public:
  std::string_view name() const override { return kind::kPlain; }
  std::string_view summary() const override { return "operators without a kind of their own"; }
  Traits traits() const override { return {}; }

  Work work(const Problem& problem) const override {
    Work work;
    for (const Access& a : problem.in) work.bytes += static_cast<double>(numel(a.shape)) * static_cast<double>(size_of(a.dtype));
    for (const Access& a : problem.out) {
      work.bytes += static_cast<double>(numel(a.shape)) * static_cast<double>(size_of(a.dtype));
      work.flops += static_cast<double>(numel(a.shape));
    }
    return work;
  }

  std::optional<Lowering> lower(const Graph& graph, const Node& node, int threads) const override {
    for (const PlainOperator& row : plain_operators()) {
      if (!node.domain.empty() || row.op != node.op) continue;
      const PlainForm form = row.form(graph, node);
      Lowering lowering;
      lowering.inputs = form.inputs;
      lowering.outputs = form.outputs;
      Problem& p = lowering.variant.problem;
      p.kind = kind::kPlain;
      p.threads = threads;
      PlainParams{node.op, std::string(row.source), form.constants}.write(p);
      for (ValueId v : form.inputs) p.in.push_back(dense(graph, v));
      for (ValueId v : form.outputs) p.out.push_back(dense(graph, v));
      return lowering;
    }
    return std::nullopt;
  }

  std::vector<Graph> examples() const override { return plain_examples(); }

 private:
  static Access dense(const Graph& graph, ValueId v) {
    const Value& value = graph.value(v);
    if (value.dtype == DType::kBF16) throw Refusal("bf16 is not supported here");
    return Access::dense(value.dtype, value.shape, graph.is_constant(v));
  }
};

}  // namespace

PlainParams PlainParams::of(const Problem& problem) {
  const Json& params = problem.params;
  return {params.at("op").get<std::string>(), params.at("source").get<std::string>(), params.at("constants")};
}

void PlainParams::write(Problem& problem) const {
  problem.params["op"] = op;
  problem.params["source"] = source;
  problem.params["constants"] = constants;
}

const KernelKind* plain_kind() {
  static const Plain kind;
  return &kind;
}

}  // namespace amdahl
