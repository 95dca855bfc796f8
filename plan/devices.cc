#include "plan/devices.h"

#include <fmt/format.h>

#include "base/error.h"
#include "plan/cpu_device.h"

namespace amdahl {

const std::vector<DeviceMaker>& devices() {
  static const std::vector<DeviceMaker> all{
      {"cpu", []() -> std::unique_ptr<Device> { return std::make_unique<CpuDevice>(); }},
  };
  return all;
}

std::unique_ptr<Device> make_device(std::string_view name) {
  for (const DeviceMaker& d : devices())
    if (d.name == name) return d.make();
  throw Error(ExitCode::kInternal, fmt::format("there is no device '{}'", name));
}

}  // namespace amdahl
