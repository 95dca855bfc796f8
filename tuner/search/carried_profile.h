#pragma once
// The profile of a plan after a win, without a run of the model: for models whose run, or whose start, takes long.

#include "plan/plan.h"
#include "profiler/profile.h"

namespace amdahl {

// `profile` is of `before`; windows of it were replaced in `after` by something faster, `log_gain` being log(time before / time after). A step
// that is still there keeps its time; a new one takes what the steps that computed its nodes took, less the gain. Floors are summed likewise.
// Only `seconds`, `floor_seconds` and of each step its number, kind, nodes, seconds and floor are filled.
Profile carried_profile(const Plan& before, const Profile& profile, const Plan& after, double log_gain);

}  // namespace amdahl
