#pragma once
// The machine that this program runs on, as a device: its CPU.

#include "base/device_info.h"

namespace amdahl {

const DeviceInfo& this_machine();

}  // namespace amdahl
