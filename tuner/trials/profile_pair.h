#pragma once
// Two plans profiled in turns, so that a busy moment of the machine falls on both and is outvoted.

#include "tuner/trials/trial_runner.h"

namespace amdahl {

struct ProfilePair {
  Profile before, after;  // medians over the turns, step by step
};

// Throws what TrialRunner::profile throws.
ProfilePair profile_in_turns(TrialRunner& runner, const Plan& before, const Plan& after, int turns);

}  // namespace amdahl
