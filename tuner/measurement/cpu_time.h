#pragma once
// Processor time of timed runs against what their threads can have used: work beside the call, or after it has answered, shows here.

#include <optional>
#include <string>

#include "tuner/worker/worker_process.h"

namespace amdahl {

class CpuTime {
 public:
  explicit CpuTime(int threads) : threads_(threads) {}

  // A run with more than 200 us beside it is left out: what the threads used then cannot be told from what they used during the call. 48 ms of
  // CPU time were seen for 10 ms of honest runs on two cores, which only time beside them explains. Of 1,264 runs of a session on a quiet
  // machine 2% were left out; the median was 80 us.
  void add(const RunTime& run);
  // What was used beyond the threads' time, or nullopt.
  std::optional<std::string> excess() const;

 private:
  int threads_;
  int runs_ = 0;
  double wall_ = 0, used_ = 0;
};

}  // namespace amdahl
