#pragma once
// The kinds, one function each, defined in `<kind>.cc`; kernel_kinds.cc puts them in order.

#include "graph/graph.h"
#include "starter_kernels/kinds/kernel_kind.h"

namespace amdahl {

const KernelKind* matmul_kind();
const KernelKind* conv_kind();
const KernelKind* attention_kind();
const KernelKind* fused_mlp_kind();
const KernelKind* inverted_residual_kind();
const KernelKind* softmax_kind();
const KernelKind* layernorm_kind();
const KernelKind* rmsnorm_kind();
const KernelKind* cross_entropy_kind();
const KernelKind* rotary_embedding_kind();
const KernelKind* recurrence_kind();
const KernelKind* reduce_kind();
const KernelKind* pool_kind();
const KernelKind* reorder_kind();  // storage formats: no node lowers to it
const KernelKind* pointwise_kind();
const KernelKind* movement_kind();
const KernelKind* plain_kind();  // operators that no other kind computes: one readable loop nest an operator

// Of a node all of whose outputs are empty, whatever computes it otherwise: a pointwise kernel that has no inputs and writes nothing.
std::optional<Lowering> lower_empty_outputs(const Graph& graph, const Node& node, int threads);

}  // namespace amdahl
