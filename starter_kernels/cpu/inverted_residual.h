#pragma once
// Which convolutions the CPU's inverted_residual kernel (kernels/inverted_residual.cpp) can take together.

#include <string>

#include "base/device_info.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {

// Why these three, each reading what the one before it writes, are no such block, or "".
std::string refused_as_inverted_residual(const Problem& expand, const Problem& depthwise, const Problem& project, const DeviceInfo& device);

}  // namespace amdahl
