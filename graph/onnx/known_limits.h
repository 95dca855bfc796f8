#pragma once
// Operators that are left out on purpose, and why: a reader of a refusal should know whether another export would help.

#include <string>

namespace amdahl {

// Of an operator that is not in the op list: the reason, or "unknown operator".
std::string why_unknown(const std::string& domain, const std::string& op);

}  // namespace amdahl
