#include "starter_kernels/cpu/vector_width.h"

namespace amdahl {

VectorUnit vector_unit(const DeviceInfo& device) {
  if (device.has("avx512f")) return {{8, 16}, 32};
  return {{8}, 16};
}

std::string refused_on_avx512(const DeviceInfo& device) { return device.has("avx512f") ? "" : "this machine has no AVX-512"; }

std::string blocked_format(const DeviceInfo& device) { return device.has("avx512f") ? "nchw16c" : "nchw8c"; }

}  // namespace amdahl
