#pragma once
// How other tools would have decided on timings that were logged here. Each takes the pairs of one experiment and may decide
// several times: a pair of processes, or two that follow each other, is all that these tools look at.
//
// "A then B": the incumbent's process of one pair against the challenger's of the next, as if one had been run after the other.
// An iteration is a segment here (a few calls, at least 1.5 ms).

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/trust/trial.h"

namespace amdahl::trust {

struct RivalRule {
  std::string name;
  // Claimed gain, log(incumbent / challenger), by decision; nullopt: not kept.
  std::function<std::vector<std::optional<double>>(const std::vector<LoggedPair>&)> decide;
};

const std::vector<RivalRule>& rival_rules();

}  // namespace amdahl::trust
