#pragma once
// A file of trials, one JSON object a line. Appended to while a study runs: what is there when it starts again is not run again.

#include <fstream>
#include <string>
#include <vector>

#include "bench/trust/trial.h"

namespace amdahl::trust {

// All trials of a file, in order; a half line at the end (of a killed run) is left out. Throws Error(kIo) when there is none.
std::vector<Trial> read_trials(const std::string& path);

class TrialLog {
 public:
  // Cuts a half line off. Throws Error(kIo).
  explicit TrialLog(const std::string& path);
  void append(const Trial& trial);
  const std::vector<Trial>& trials() const { return trials_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::vector<Trial> trials_;
  std::ofstream file_;
};

}  // namespace amdahl::trust
