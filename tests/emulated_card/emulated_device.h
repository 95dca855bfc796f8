#pragma once
// The emulated card as a device (plan/device.h), and as a target.

#include <memory>

#include "plan/device.h"
#include "starter_kernels/kinds/target.h"

namespace amdahl::testing {

enum class Generation { kSm80, kSm90 };

// What a real card of that generation says of itself.
Target emulated_target(Generation generation);

std::unique_ptr<Device> make_emulated_device();

}  // namespace amdahl::testing
