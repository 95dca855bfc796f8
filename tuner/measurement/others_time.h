#pragma once
// Processor time that others took on the processors of this process: another program, or the host. Counted by the kernel for each processor, less what this process
// and its workers used by their own clocks: nothing that a worker does
// makes it larger.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace amdahl {

class OthersTime {
 public:
  // Begins to count. `mine`: clocks of the processes that are not others, beside this one.
  explicit OthersTime(std::vector<pid_t> mine);
  // Why what was measured since then was disturbed, or "". To be asked while the processes still live.
  std::string disturbance() const;

 private:
  struct Reading {
    int64_t busy_ticks = 0, stolen_ticks = 0;  // of 10 ms, of all processors that this process may use
    double own_seconds = 0, wall_seconds = 0;
  };
  Reading read() const;

  std::vector<pid_t> mine_;
  std::vector<std::string> processors_;  // "cpu0": as /proc/stat names them
  Reading start_;
};

// The rule itself: `busy` and `stolen` ticks of `processors` processors in `wall` seconds, of which `own` seconds of processor time were our own.
// A processor is charged a whole tick for whoever runs when the tick comes, so that n ticks of which half are busy come out with a deviation of sqrt(n) / 2: three
// of these, and 2% of the time, are allowed. One tick of steal may be chance.
std::string disturbance_of(int64_t busy_ticks, int64_t stolen_ticks, double own_seconds, double wall_seconds, size_t processors);

}  // namespace amdahl
