#pragma once
// Repetitions of one piece of work, some of which a scheduler has cut in two.

#include <algorithm>
#include <vector>

namespace amdahl {

// `cpu`: the longest that any thread computed; `wall`: what passed meanwhile.
struct Timed {
  double cpu = 0, wall = 0;
  // Others had a processor for a third of it, or more.
  bool disturbed() const { return wall > 1.5 * cpu; }
};

// Processor seconds of the repetitions that say what the machine can do: those that nobody disturbed, since whoever had the processor meanwhile
// left other lines in the caches. All of them where fewer than three were left alone.
inline std::vector<double> trusted_seconds(const std::vector<Timed>& repetitions) {
  std::vector<double> all, alone;
  for (const Timed& t : repetitions) {
    all.push_back(t.cpu);
    if (!t.disturbed()) alone.push_back(t.cpu);
  }
  return alone.size() >= 3 ? alone : all;
}

inline double share_disturbed(const std::vector<Timed>& repetitions) {
  if (repetitions.empty()) return 0;
  const auto disturbed = std::count_if(repetitions.begin(), repetitions.end(), [](const Timed& t) { return t.disturbed(); });
  return static_cast<double>(disturbed) / static_cast<double>(repetitions.size());
}

}  // namespace amdahl
