#pragma once
// The time that no honest kernel of a window can stay below on this machine: its arithmetic at the measured peak, or its
// weights from the closest memory that can hold all copies taking turns. A time below it is not speed: work was left out, or
// the clock was cheated.

#include <string>
#include <vector>

#include "plan/plan.h"
#include "profiler/ceilings.h"

namespace amdahl {

struct FloorOptions {
  double margin = 0.7;       // ceilings are measured, so a kernel may beat them by a little
  double conv_factor = 5.1;  // multiplications that Winograd's F(6x6, 3x3) saves
};

// Seconds of one call of `steps`, by the work that their own problems state; `instances` copies of the weights take turns.
// 0 when nothing can be proven: integers and 16-bit types have peaks that the ceilings do not hold.
double provable_floor(const std::vector<Step>& steps, int instances, int threads, const Ceilings& ceilings, const FloorOptions& options = {});

// "" or why a pair's times cannot be true.
std::string below_floor(double incumbent_seconds, double incumbent_floor, double challenger_seconds, double challenger_floor);

}  // namespace amdahl
