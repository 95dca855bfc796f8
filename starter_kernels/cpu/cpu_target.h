#pragma once
// The backend "cpu": C++ with OpenMP, compiled at run time.

#include "base/device_info.h"
#include "starter_kernels/kinds/target.h"

namespace amdahl {

// Of a CPU with these properties.
Target cpu_target(const DeviceInfo& device);
// Of this machine's.
const Target& cpu_target();

}  // namespace amdahl
