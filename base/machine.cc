#include "base/machine.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/amx.h"
#include "base/memory_limit.h"
#include "base/processors.h"

namespace amdahl {
namespace {

// "/sys/…/size" holds "2048K" or "105M".
int64_t read_size(const std::string& path) {
  std::ifstream in(path);
  int64_t n = 0;
  char unit = 0;
  if (!(in >> n)) return 0;
  in >> unit;
  return unit == 'M' ? n << 20 : unit == 'K' ? n << 10 : n;
}

void read_caches(DeviceInfo& m) {
  for (int index = 0; index < 8; ++index) {
    const std::string dir = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    std::ifstream level_file(dir + "level"), type_file(dir + "type");
    int level = 0;
    std::string type;
    if (!(level_file >> level) || !(type_file >> type) || type == "Instruction") continue;
    const int64_t size = read_size(dir + "size");
    if (size <= 0) continue;
    if (level == 1) m.l1d_bytes = size;
    if (level == 2) m.l2_bytes = size;
    if (level == 3) m.l3_bytes = size;
  }
}

void read_cpuinfo(DeviceInfo& m) {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string rest = colon + 2 <= line.size() ? line.substr(colon + 2) : "";
    if (line.rfind("model name", 0) == 0) m.name = rest;
    if (line.rfind("flags", 0) == 0 || line.rfind("Features", 0) == 0) {
      std::istringstream words(rest);
      for (std::string w; words >> w;) m.features.push_back(w);
      break;
    }
  }
  std::sort(m.features.begin(), m.features.end());
}

DeviceInfo detect() {
  DeviceInfo m;
  read_cpuinfo(m);
  if (m.has("amx_bf16") && !allow_amx())
    m.features.erase(std::remove_if(m.features.begin(), m.features.end(), [](const std::string& f) { return f.rfind("amx", 0) == 0; }), m.features.end());
  read_caches(m);
  m.units = processors().usable();
  m.memory_bytes = usable_memory_bytes();
  return m;
}

}  // namespace

const DeviceInfo& this_machine() {
  static const DeviceInfo machine = detect();
  return machine;
}

}  // namespace amdahl
