#pragma once
// The last lines of `amdahl compare`: who is ahead, in words, and what to type next.

#include <string>
#include <vector>

#include "experiments/comparison.h"

namespace amdahl {

// `session`: "" where there is none; `model`: as it was named.
std::string compare_end(const std::vector<ComparedArm>& rows, const std::string& session, const std::string& model);

}  // namespace amdahl
