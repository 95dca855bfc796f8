#pragma once
// What an NVIDIA card can do at most: bytes a second from its memory and from L2, operations a second in fp32 and on the tensor cores in fp16, and what
// an empty kernel in a graph costs. Measured with kernels, as models run; the driver's own copy is another path.

#include <memory>

#include "profiler/ceiling_probe.h"

namespace amdahl {

// The card `device.number`. measure() throws Error(kNoDevice, kNoCompiler).
std::unique_ptr<CeilingProbe> make_cuda_probe(const DeviceInfo& device);

}  // namespace amdahl
