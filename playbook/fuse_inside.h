#pragma once
// A structural rewrite of a region would leave pointwise steps between the kernels that it puts there. Each is worth a fusion,
// all of them one experiment: nobody would write the region with them.

#include <set>

#include "playbook/rewrite.h"

namespace amdahl {

// The plan with those pointwise steps among `steps` moved into the epilogues of the steps that they follow that can be, and chains of others made one
// step. *left: what is left of `steps`, numbers in the new plan.
Plan with_epilogues_fused(const RewriteContext& context, const std::set<int>& steps, std::set<int>* left);

}  // namespace amdahl
