#pragma once
// What this machine is: the facts that kernels and ranking depend on. Measured figures are the profiler's (Ceilings).

#include <cstdint>
#include <string>
#include <vector>

namespace amdahl {

struct MachineInfo {
  std::string cpu;                 // model name as the kernel reports it
  std::vector<std::string> isa;    // sorted feature names from /proc/cpuinfo: "avx2", "avx512f", "amx_bf16", ...
  int cores = 1;                   // usable by this process (affinity mask)
  int64_t l1d_bytes = 32 << 10;    // a core
  int64_t l2_bytes = 1 << 20;      // a core
  int64_t l3_bytes = 8 << 20;      // shared
  int64_t memory_bytes = 0;

  bool has(const std::string& feature) const;
  // Identifies machines on which timings and binaries can be exchanged: cpu model, isa, cache sizes, cores that are online.
  std::string fingerprint() const;
};

const MachineInfo& this_machine();

}  // namespace amdahl
