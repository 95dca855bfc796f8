#pragma once
// An NVIDIA card as a device (plan/device.h), by its driver: calls in a row are one CUDA graph.

#include <memory>

#include "plan/device.h"

namespace amdahl {

// Card `number` in the driver's order. Throws Error(kNoDevice).
std::unique_ptr<Device> make_cuda_device(int number);

}  // namespace amdahl
