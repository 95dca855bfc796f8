#include "starter_kernels/kinds/kernel_kinds.h"

#include <fmt/format.h>

#include "base/error.h"
#include "graph/op.h"

namespace amdahl {

// Order is meaning: the first kind whose lower() accepts a node computes it.
const std::vector<const KernelKind*>& kernel_kinds() {
  static const std::vector<const KernelKind*> kinds{
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
      pointwise_kind(),
      movement_kind(),
      plain_kind(),
  };
  return kinds;
}

const KernelKind& kernel_kind(std::string_view name) {
  for (const KernelKind* kind : kernel_kinds())
    if (kind->name() == name) return *kind;
  throw Error(ExitCode::kInternal, fmt::format("unknown kernel kind '{}'", name));
}

Lowering lower_node(const Graph& graph, const Node& node, int threads) {
  if (auto nothing = lower_empty_outputs(graph, node, threads)) return *nothing;
  for (const KernelKind* kind : kernel_kinds())
    if (auto lowering = kind->lower(graph, node, threads)) return *lowering;
  throw Refusal("no kernel kind computes this operator with these attributes");
}

Knobs SearchSpace::starters() const {
  Knobs knobs_of;
  for (const Knob& knob : knobs) knobs_of[knob.name] = knob.starter;
  return knobs_of;
}

const Knob* SearchSpace::find(std::string_view name) const {
  for (const Knob& knob : knobs)
    if (knob.name == name) return &knob;
  return nullptr;
}

}  // namespace amdahl
