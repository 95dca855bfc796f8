#pragma once
// Whether a plan fits this machine, before anything of it is allocated.

#include "plan/plan.h"

namespace amdahl {

// Throws Error(kUnsupported): weights, inputs, outputs and temporaries together need more memory than there is.
void require_memory(const Graph& graph, const Plan& plan);

}  // namespace amdahl
