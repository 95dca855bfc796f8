#pragma once
// Runs a program with limits and collects what it printed. For compilers and other tools, not for candidates (those run in
// the supervised worker).

#include <cstdint>
#include <string>
#include <vector>

namespace amdahl {

struct SubprocessLimits {
  double seconds = 60;
  int64_t memory_bytes = 0;  // 0: unlimited; RLIMIT_AS otherwise
};

struct SubprocessResult {
  int exit_code = -1;        // -1 when it did not exit by itself
  int signal = 0;
  bool timed_out = false;
  std::string output;        // stdout and stderr, at most 256 KiB
  double seconds = 0;
  bool ok() const { return exit_code == 0; }
};

// argv[0] is looked up in PATH. The child leads its own process group; on time-out the whole group is killed. `input` goes to
// its stdin. Throws Error(kIo) only when the machine cannot start processes.
SubprocessResult run_subprocess(const std::vector<std::string>& argv, const SubprocessLimits& limits = {},
                                const std::string& input = {});

}  // namespace amdahl
