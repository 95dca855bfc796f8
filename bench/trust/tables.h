#pragma once
// What logs of trials say, as the tables of docs/trust.

#include <string>
#include <vector>

#include "bench/trust/trial.h"

namespace amdahl::trust {

// Trials without an effect: keeps, wealth, spread of the pairs; by window and together.
std::string null_table(const std::vector<Trial>& trials);
// Which edits were made, and how often the object code changed.
std::string edits_table(const std::vector<Trial>& trials);
// Detected, bias and seconds by effect.
std::string planted_table(const std::vector<Trial>& trials);
// Other tools' rules on the same timings beside ours.
std::string rivals_table(const std::vector<Trial>& trials);
// Median cost of an experiment by outcome, from sessions.
std::string costs_table(const std::vector<std::string>& sessions);

}  // namespace amdahl::trust
