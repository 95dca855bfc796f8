#include "starter_kernels/cuda/cuda_target.h"

#include "starter_kernels/cuda/cuda_kernels.h"

namespace amdahl {

Target cuda_target(const DeviceInfo& card) {
  return {"cuda",
          card,
          {
              attention_on_cuda(),
              conv_on_cuda(),
              cross_entropy_on_cuda(),
              fused_mlp_on_cuda(),
              inverted_residual_on_cuda(),
              layernorm_on_cuda(),
              matmul_on_cuda(),
              movement_on_cuda(),
              plain_on_cuda(),
              pointwise_on_cuda(),
              pool_on_cuda(),
              recurrence_on_cuda(),
              reduce_on_cuda(),
              reorder_on_cuda(),
              rmsnorm_on_cuda(),
              rotary_embedding_on_cuda(),
              softmax_on_cuda(),
          },
          ".cu"};
}

}  // namespace amdahl
