#pragma once
// NVIDIA's cards of this machine.

#include <vector>

#include "base/device_info.h"

namespace amdahl::cuda {

// In the driver's order, which is that of numbers in --device cuda:N. Throws Error(kNoDevice) where there is no driver, or no card.
// Features are the architectures that code for the card may be built for: "sm_80", "sm_90", "sm_90a", …
std::vector<DeviceInfo> cards();
// The architecture to build for: the last of them.
std::string architecture_of(const DeviceInfo& card);

}  // namespace amdahl::cuda
