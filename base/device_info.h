#pragma once
// The facts about a device that kernels and ranking depend on. Measured figures are the profiler's (Ceilings).

#include <cstdint>
#include <string>
#include <vector>

namespace amdahl {

struct DeviceInfo {
  std::string name;                   // as its maker calls it
  std::vector<std::string> features;  // sorted; of a CPU as in /proc/cpuinfo: "avx2", "avx512f", "amx_bf16", …
  int number = 0;                     // among several of this machine; no part of the fingerprint
  int units = 1;                      // cores, or multiprocessors, that this process may use
  std::string unit = "core";          // what one of them is called
  int64_t l1d_bytes = 32 << 10;       // a unit
  int64_t l2_bytes = 1 << 20;         // a core; of a GPU shared
  int64_t l3_bytes = 8 << 20;         // shared; the last level before memory
  int64_t memory_bytes = 0;           // what a model may take of it

  bool has(const std::string& feature) const;
  // Identifies devices on which timings and binaries can be exchanged: name, features, cache sizes, units that there are.
  std::string fingerprint() const;
};

}  // namespace amdahl
