#pragma once
// The kinds, one function each, defined in `<kind>.cc`; kernel_kinds.cc puts them in order.

#include "starter_kernels/kernel_kind.h"

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
const KernelKind* reduce_kind();
const KernelKind* pool_kind();
const KernelKind* reorder_kind();  // storage formats: no node lowers to it
const KernelKind* pointwise_kind();
const KernelKind* movement_kind();
const KernelKind* plain_kind();  // operators that no other kind computes: one readable loop nest an operator

}  // namespace amdahl
