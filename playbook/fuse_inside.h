#pragma once
// Structural rewrites of a region leave pointwise steps between the kernels that they put there. Each is worth a fusion, all of them
// one experiment: nobody would write the region with them.

#include "playbook/rewrite.h"

namespace amdahl {

// `match` with the pointwise steps of its replacement moved into the epilogues of the steps that they follow, where that can be.
Match with_epilogues_fused(const RewriteContext& context, Match match);

}  // namespace amdahl
