#pragma once
// Runs a program with limits and collects what it printed. For compilers and other tools, not for candidates (those run in
// the supervised worker).

#include <cstdint>
#include <string>
#include <vector>

#include "base/landlock.h"

namespace amdahl {

struct SubprocessLimits {
  double seconds = 60;
  int64_t memory_bytes = 0;  // 0: unlimited; RLIMIT_AS otherwise
  int64_t file_bytes = 0;    // 0: unlimited; of one file that it writes
};

// What a program finds around it, when that is not what we have around us.
struct SubprocessSurroundings {
  std::string folder;                          // where it starts; "": here
  std::vector<std::string> environment;        // "NAME=value", in place of ours of that name
  const FolderRestriction* folders = nullptr;  // what it can open; nullptr: all that we can
  bool network = true;
};

struct SubprocessResult {
  int exit_code = -1;  // -1 when it did not exit by itself
  int signal = 0;
  bool timed_out = false;
  std::string output;  // stdout and stderr, at most 256 KiB
  double seconds = 0;
  bool ok() const { return exit_code == 0; }
};

// argv[0] is looked up in PATH. The child leads its own process group; on time-out the whole group is killed. `input` goes to
// its stdin. Throws Error(kIo) only when the machine cannot start processes (too many of them, or of open files). A program that cannot be started under its
// surroundings, or is not there, exits with 127.
SubprocessResult run_subprocess(const std::vector<std::string>& argv, const SubprocessLimits& limits = {}, const std::string& input = {},
                                const SubprocessSurroundings& surroundings = {});

}  // namespace amdahl
