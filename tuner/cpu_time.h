#pragma once
// Processor time of timed runs against what their threads can have used: work beside the call, or after it has answered, shows here.

#include <optional>
#include <string>

#include "tuner/worker_process.h"

namespace amdahl {

class CpuTime {
 public:
  explicit CpuTime(int threads) : threads_(threads) {}

  // A run with much time beside it is left out: OpenMP's threads spin from an answer until they are stopped, which a busy machine
  // delays by milliseconds (48 ms of CPU time were seen for 10 ms of honest runs).
  void add(const RunTime& run);
  // What was used beyond the threads' time, or nullopt.
  std::optional<std::string> excess() const;

 private:
  int threads_;
  int runs_ = 0;
  double wall_ = 0, used_ = 0;
};

}  // namespace amdahl
