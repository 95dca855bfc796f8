#include "starter_kernels/cpu/cpu_target.h"

#include "base/device_info.h"
#include "base/machine.h"
#include "starter_kernels/cpu/cpu_kernels.h"
#include "starter_kernels/kinds/target.h"

namespace amdahl {

Target cpu_target(const DeviceInfo& device) {
  return {"cpu",
          device,
          {
              matmul_on_cpu(),
              attention_on_cpu(),
              fused_mlp_on_cpu(),
              conv_on_cpu(),
              inverted_residual_on_cpu(),
              pool_on_cpu(),
              reorder_on_cpu(),
              softmax_on_cpu(),
              layernorm_on_cpu(),
              rmsnorm_on_cpu(),
              reduce_on_cpu(),
              cross_entropy_on_cpu(),
              rotary_embedding_on_cpu(),
              recurrence_on_cpu(),
              pointwise_on_cpu(),
              movement_on_cpu(),
              plain_on_cpu(),
          }};
}

const Target& cpu_target() {
  static const Target target = cpu_target(this_machine());
  return target;
}

}  // namespace amdahl
