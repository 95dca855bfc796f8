#pragma once
// How much larger this process became while something ran, at its largest.

#include <malloc.h>

#include <fstream>
#include <optional>
#include <string>

namespace amdahl::testing {

// "VmHWM" or "VmRSS" of /proc/self/status, in bytes.
inline double memory_of(const std::string& key) {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(key + ":")) return 1024 * std::stod(line.substr(key.size() + 1));
  return 0;
}

// Nullopt where the kernel does not let a process begin its peak anew.
template <typename Work>
std::optional<double> peak_growth(Work&& work) {
  malloc_trim(0);
  if (!(std::ofstream("/proc/self/clear_refs") << "5" << std::flush)) return std::nullopt;
  const double before = memory_of("VmRSS");
  work();
  return memory_of("VmHWM") - before;
}

}  // namespace amdahl::testing
