#pragma once
// The plan that a session begins with, and is measured against.

#include "plan/plan.h"

namespace amdahl {

// starter_plan(), and what nobody who writes for the target would begin without: on cards, convolutions of half floats have channels last where that leaves few
// conversions (docs/decisions/0045-channels-last-from-the-start.md), and attention, norms, activations and what ends a product are one kernel each (0050).
Plan first_plan(const Graph& graph, int threads, const Target& target);

}  // namespace amdahl
