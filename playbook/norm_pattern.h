#pragma once
// A normalisation of rows written in primitive operators, as one kernel.

#include "playbook/rewrite.h"

namespace amdahl {

// Anchored at the step with the mean of squares. `centred`: LayerNorm, with the mean subtracted; otherwise RMSNorm.
std::optional<Match> match_norm(const RewriteContext& context, int anchor, bool centred, std::string* refusal);

}  // namespace amdahl
