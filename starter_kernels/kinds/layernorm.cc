// The layernorm kind: LayerNormalization, InstanceNormalization, GroupNormalization, MeanVarianceNormalization. Operands and
// parameters: starter_kernels/kinds/normalization.h.

#include "graph/graph.h"
#include "starter_kernels/examples/example_graph.h"
#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/kinds/kernel_kinds.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/normalization.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {
namespace {

class LayerNorm final : public KernelKind {
 public:
  std::string_view name() const override { return kind::kLayerNorm; }
  std::string_view summary() const override { return "normalisation of rows to mean 0 and variance 1"; }
  Traits traits() const override { return {.family = Traits::Family::kRows, .has_expression = true, .has_epilogue = true, .writes_strides = true}; }
  Work work(const Problem& problem) const override { return normalization_work(problem); }
  std::optional<Lowering> lower(const Graph& graph, const Node& node, int threads) const override {
    std::optional<Lowering> l;
    if (node.op == "LayerNormalization") l = lower_layer(graph, node);
    if (node.op == "InstanceNormalization" || node.op == "GroupNormalization") l = lower_channels(graph, node);
    if (node.op == "MeanVarianceNormalization") l = lower_mean_variance(graph, node);
    if (!l) return std::nullopt;
    l->variant.problem.kind = name();
    l->variant.problem.threads = threads;
    return l;
  }
  std::vector<Graph> examples() const override { return row_examples(name()); }
};

}  // namespace

const KernelKind* layernorm_kind() {
  static const LayerNorm kind;
  return &kind;
}

}  // namespace amdahl
