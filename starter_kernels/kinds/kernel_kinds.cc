#include "starter_kernels/kinds/kernel_kinds.h"

#include <fmt/format.h>

#include "base/error.h"
#include "graph/graph.h"
#include "graph/op.h"
#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/target.h"

namespace amdahl {

// Order is meaning: the first kind whose lower() accepts a node computes it.
const std::vector<const KernelKind*>& kernel_kinds() {
  static const std::vector<const KernelKind*> kinds{
      // clang-format off
      matmul_kind(),
      attention_kind(),
      fused_mlp_kind(),
      conv_kind(),
      inverted_residual_kind(),
      pool_kind(),
      reorder_kind(),
      softmax_kind(),
      layernorm_kind(),
      rmsnorm_kind(),
      reduce_kind(),
      cross_entropy_kind(),
      rotary_embedding_kind(),
      recurrence_kind(),
      pointwise_kind(),
      movement_kind(),
      plain_kind(),
      // clang-format on
  };
  return kinds;
}

const KernelKind& kernel_kind(std::string_view name) {
  for (const KernelKind* kind : kernel_kinds())
    if (kind->name() == name) return *kind;
  throw Error(ExitCode::kInternal, fmt::format("unknown kernel kind '{}'", name));
}

Traits traits_of(const Problem& problem) { return kernel_kind(problem.kind).traits(); }

Lowering lower_node(const Graph& graph, const Node& node, int threads, const Target& target) {
  const auto start = [&](Lowering lowering) {
    lowering.variant.knobs = target.space(lowering.variant.problem).starters();
    return lowering;
  };
  if (auto nothing = lower_empty_outputs(graph, node, threads); nothing && target.computes(kind::kPointwise)) return start(*nothing);
  std::string_view missing;
  for (const KernelKind* kind : kernel_kinds())
    if (auto lowering = kind->lower(graph, node, threads)) {
      if (target.computes(kind->name())) return start(*lowering);
      missing = kind->name();
    }
  if (!missing.empty()) throw Refusal(target.lacks(missing));
  throw Refusal("no kernel kind computes this operator with these attributes");
}

}  // namespace amdahl
