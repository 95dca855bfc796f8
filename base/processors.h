#pragma once
// The processors that this process may use: of all that the machine has, those of its affinity, and no more of their time than its control groups grant.

#include <string>

namespace amdahl {

// As when it was first asked: OpenMP may bind the thread that asks later.
struct Processors {
  int count = 1;
  std::string list;  // "0-3,8"
  double quota = 0;  // how many processors' time; 0: all of theirs

  int usable() const;        // threads that can run at once
  std::string text() const;  // "0-3,8" or "0-3,8, 1.50 of their time": names what timings were taken on
};
const Processors& processors();

// Of the control groups that `own` lists (as /proc/self/cgroup does), mounted below `root`, and of those above them: the least quota. 0: none.
double cpu_quota(const std::string& own = "/proc/self/cgroup", const std::string& root = "/sys/fs/cgroup");

}  // namespace amdahl
