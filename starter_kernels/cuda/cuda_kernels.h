#pragma once
// How an NVIDIA card computes each kind, one function each, defined in <kind>.cc; cuda_target.cc lists them.
//
// A text is one translation unit of CUDA C++ for NVRTC, without headers: kernels amdahl_kernel_0, … and the tables that say how they are launched
// (starter_kernels/cuda/kernels/prelude.h). It holds no host code, so a candidate runs on the card alone.

#include "starter_kernels/kinds/target.h"

namespace amdahl {

const KernelImplementation* attention_on_cuda();
const KernelImplementation* conv_on_cuda();
const KernelImplementation* cross_entropy_on_cuda();
const KernelImplementation* fused_mlp_on_cuda();
const KernelImplementation* inverted_residual_on_cuda();
const KernelImplementation* layernorm_on_cuda();
const KernelImplementation* matmul_on_cuda();
const KernelImplementation* movement_on_cuda();
const KernelImplementation* plain_on_cuda();
const KernelImplementation* pointwise_on_cuda();
const KernelImplementation* pool_on_cuda();
const KernelImplementation* recurrence_on_cuda();
const KernelImplementation* reduce_on_cuda();
const KernelImplementation* reorder_on_cuda();
const KernelImplementation* rmsnorm_on_cuda();
const KernelImplementation* rotary_embedding_on_cuda();
const KernelImplementation* softmax_on_cuda();

}  // namespace amdahl
