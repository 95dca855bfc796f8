#include "base/cuda/cards.h"

#include <fmt/format.h>

#include "base/cuda/driver.h"
#include "base/error.h"

namespace amdahl::cuda {
namespace {

int attribute(int device, Attribute wanted) {
  int value = 0;
  check(driver().device_attribute(&value, wanted, device), "cuDeviceGetAttribute");
  return value;
}

DeviceInfo card(int number) {
  const Driver& d = driver();
  int device = 0;
  check(d.device_get(&device, number), "cuDeviceGet");
  char name[256] = "";
  check(d.device_name(name, sizeof name, device), "cuDeviceGetName");
  size_t memory = 0;
  check(d.device_memory(&memory, device), "cuDeviceTotalMem");
  DeviceInfo info;
  info.name = name;
  info.number = number;
  info.units = attribute(device, Attribute::kMultiprocessors);
  info.unit = "multiprocessor";
  info.l1d_bytes = attribute(device, Attribute::kSharedBytesOfMultiprocessor);
  info.l2_bytes = info.l3_bytes = attribute(device, Attribute::kL2Bytes);
  info.memory_bytes = static_cast<int64_t>(memory);
  const int sm = 10 * attribute(device, Attribute::kMajor) + attribute(device, Attribute::kMinor);
  for (int known : {80, 90})
    if (sm >= known) info.features.push_back(fmt::format("sm_{}", known));
  if (sm == 90) info.features.push_back("sm_90a");
  else if (sm > 90) info.features.push_back(fmt::format("sm_{}", sm));
  return info;
}

}  // namespace

std::vector<DeviceInfo> cards() {
  int count = 0;
  check(driver().device_count(&count), "cuDeviceGetCount");
  std::vector<DeviceInfo> all;
  for (int n = 0; n < count; ++n)
    if (DeviceInfo info = card(n); !info.features.empty()) all.push_back(std::move(info));
  if (all.empty()) throw Error(ExitCode::kNoDevice, "no NVIDIA card of compute capability 8.0 or later is here");
  return all;
}

std::string architecture_of(const DeviceInfo& card) { return card.features.empty() ? "sm_80" : card.features.back(); }

}  // namespace amdahl::cuda
