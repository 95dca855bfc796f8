#include "starter_kernels/cpu/vector_width.h"

namespace amdahl {

std::string refused_on_avx512(const DeviceInfo& device) { return device.has("avx512f") ? "" : "this machine has no AVX-512"; }

std::string blocked_format(const DeviceInfo& device) { return device.has("avx512f") ? "nchw16c" : "nchw8c"; }

}  // namespace amdahl
