#pragma once
// --allow TYPE: precision that a user gives up.

#include "cli/commands.h"

namespace amdahl {

void declare_allow(Options& options);
// Throws Error(kUsage) for a type that cannot be allowed.
bool read_allow_bf16(const po::variables_map& values);

}  // namespace amdahl
