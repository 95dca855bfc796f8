#pragma once
// Windows in which pointwise steps move into their neighbours (plan/fusion.h).

#include <set>

#include "plan/fusion.h"
#include "playbook/rewrite.h"

namespace amdahl {

// The step at `anchor` with all pointwise steps absorbed that only feed it, directly or through each other, and the numbers
// of the steps that it covers, `anchor` among them.
struct GrownStep {
  Step step;
  std::set<int> steps;
};
GrownStep grow_backwards(const RewriteContext& context, int anchor);

// Knobs that the changed problem does not offer go back to their starters, missing ones are added.
void repair_knobs(const RewriteContext& context, Step& step);
// The knobs of replacement[0] that are worth a search after a fusion.
void open_all_knobs(const RewriteContext& context, Match& match);

// A match that replaces `steps` by `fused`.
Match match_of(const RewriteContext& context, const std::set<int>& steps, Step fused);

}  // namespace amdahl
