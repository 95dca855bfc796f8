#pragma once
// An NVIDIA card, as kernels are made for it.

#include "starter_kernels/kinds/target.h"

namespace amdahl {

Target cuda_target(const DeviceInfo& card);

}  // namespace amdahl
