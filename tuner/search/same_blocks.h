#pragma once
// How much of a win is its algorithm: the control of a form that computes its window another way.

#include <optional>
#include <vector>

#include "plan/plan.h"

namespace amdahl {

// The incumbent's algorithm in the blocks, flags and compiler of `form`. nullopt where both are of one algorithm, where steps were fused or kinds
// exchanged, and where no block of `form` means anything to the incumbent's kernels: there is nothing to compare with.
std::optional<std::vector<Step>> in_blocks_of(const std::vector<Step>& form, const std::vector<Step>& incumbent, const Target& target);

}  // namespace amdahl
