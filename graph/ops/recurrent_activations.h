#pragma once
// The activations of recurrences on numbers with an error.

#include "graph/ops/carried_error.h"
#include "graph/ops/recurrence.h"

namespace amdahl {

Carried activated(const CarriedArithmetic& arithmetic, const RecurrentActivation& activation, const Carried& x);

// min(max(x, -limit), limit).
Carried clipped(const CarriedArithmetic& arithmetic, double limit, const Carried& x);

}  // namespace amdahl
