#include "base/device_info.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>

#include "base/hash.h"

namespace amdahl {

bool DeviceInfo::has(const std::string& feature) const { return std::binary_search(features.begin(), features.end(), feature); }

std::string DeviceInfo::fingerprint() const {
  // Cores of the machine, not of this thread's mask: OpenMP may have bound it.
  return hash_hex(fmt::format("{}|{}|{}|{}|{}|{}", name, fmt::join(features, " "), sysconf(_SC_NPROCESSORS_ONLN), l1d_bytes, l2_bytes, l3_bytes));
}

}  // namespace amdahl
