#pragma once
// Progress of something that may take more than two seconds, on stderr: one line that updates itself on a terminal, a plain
// line every ten seconds elsewhere, nothing with --json or --quiet.

#include <atomic>
#include <mutex>
#include <string>

#include "base/clock.h"

namespace amdahl {

class Progress {
 public:
  // `label`: "compiling kernels". `shown` false: silent.
  Progress(std::string label, bool shown);
  ~Progress();  // removes the line on a terminal
  Progress(const Progress&) = delete;

  // Safe from several threads. `total` 0: unknown.
  void update(double done, double total, const std::string& note = {});

 private:
  std::string label_;
  bool shown_, terminal_;
  Clock::time_point start_, last_;
  bool drawn_ = false;
  std::mutex mutex_;
};

}  // namespace amdahl
