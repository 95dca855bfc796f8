#pragma once
// How a CPU computes each kind, one function each, defined in <kind>.cc; cpu_target.cc lists them.

#include "starter_kernels/kinds/target.h"

namespace amdahl {

const KernelImplementation* matmul_on_cpu();
const KernelImplementation* attention_on_cpu();
const KernelImplementation* fused_mlp_on_cpu();
const KernelImplementation* conv_on_cpu();
const KernelImplementation* inverted_residual_on_cpu();
const KernelImplementation* pool_on_cpu();
const KernelImplementation* reorder_on_cpu();
const KernelImplementation* softmax_on_cpu();
const KernelImplementation* layernorm_on_cpu();
const KernelImplementation* rmsnorm_on_cpu();
const KernelImplementation* reduce_on_cpu();
const KernelImplementation* cross_entropy_on_cpu();
const KernelImplementation* rotary_embedding_on_cpu();
const KernelImplementation* recurrence_on_cpu();
const KernelImplementation* pointwise_on_cpu();
const KernelImplementation* movement_on_cpu();
const KernelImplementation* plain_on_cpu();

}  // namespace amdahl
