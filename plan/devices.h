#pragma once
// The devices that programs can be run on, by the name of their backend.

#include <memory>
#include <string_view>
#include <vector>

#include "plan/device.h"

namespace amdahl {

struct DeviceMaker {
  std::string_view name;
  std::unique_ptr<Device> (*make)(int number);  // DeviceInfo::number; throws Error when this machine has none
};
const std::vector<DeviceMaker>& devices();

// Throws Error(kInternal) for a name that is not in the table.
std::unique_ptr<Device> make_device(std::string_view name, int number = 0);

}  // namespace amdahl
