#pragma once
// What a rewrite makes of a model wherever it matches: asked before it is offered, when it costs accuracy.

#include <vector>

#include "plan/plan.h"
#include "playbook/rewrite.h"

namespace amdahl {

// `plan` with every window that `rewrites` match replaced by the form they begin with, one rewrite after the other, until none matches.
Plan applied_everywhere(const Graph& graph, Plan plan, const std::vector<const Rewrite*>& rewrites, const Target& target);

}  // namespace amdahl
