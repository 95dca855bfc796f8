#include "plan/devices.h"

#include <fmt/format.h>

#include "base/error.h"
#include "plan/cpu_device.h"
#include "plan/cuda_device.h"

namespace amdahl {

const std::vector<DeviceMaker>& devices() {
  static const std::vector<DeviceMaker> all{
      {"cpu", [](int) -> std::unique_ptr<Device> { return std::make_unique<CpuDevice>(); }},
      {"cuda", make_cuda_device},
  };
  return all;
}

std::unique_ptr<Device> make_device(std::string_view name, int number) {
  for (const DeviceMaker& d : devices())
    if (d.name == name) return d.make(number);
  throw Error(ExitCode::kInternal, fmt::format("there is no device '{}'", name));
}

}  // namespace amdahl
