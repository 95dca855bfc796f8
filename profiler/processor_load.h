#pragma once
// What others take of the processors that this process may use, by the kernel's own count (/proc/stat, in ticks of 10 ms): other programs, and
// the hypervisor ("steal"). What is timed meanwhile waits for them, and says little of the machine.

#include <cstdint>
#include <functional>
#include <string>

namespace amdahl {

struct ProcessorTicks {
  int64_t all = 0, idle = 0;  // of all processors counted, since the machine started
};
// Of the text of /proc/stat, the processors whose numbers are `usable`.
ProcessorTicks processor_ticks(const std::string& stat, const std::function<bool(int)>& usable);

// Share of the time between two counts that neither was idle nor went to `own_seconds`, 0 to 1; 0 for less than five ticks.
double others_share(const ProcessorTicks& begin, const ProcessorTicks& end, double own_seconds);

// From its construction on. This process, and those of its children that ended meanwhile, are not among the others.
class OthersLoad {
 public:
  OthersLoad();
  double share() const;

 private:
  ProcessorTicks begin_;
  double own_begin_;
};

// From this share on, what was timed is measured again before anything is concluded from it. A program on one of two processors has 0.5;
// what a quiet machine does beside us stayed below 0.05.
constexpr double kBusyShare = 0.15;

}  // namespace amdahl
