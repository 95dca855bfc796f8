#pragma once
// The steps of a profiled plan, equal ones together: what people read instead of 364 rows.

#include <map>
#include <string>
#include <vector>

#include "experiments/session_store.h"

namespace amdahl {

struct StepGroup {
  std::string kind, shapes;
  int count = 0;
  double seconds = 0, floor_seconds = 0;  // of all of them, in place; what their rooflines allow at best
  Problem problem;                        // of each
};

// In order of first occurrence in the plan; empty when the store lacks the plan.
std::vector<StepGroup> step_groups(const SessionStore& store, const ProfileRecord& profile);

// Those of the newest profile, most winnable first; empty before the first profile.
std::vector<StepGroup> left_to_win(const SessionStore& store);

// Steps of the plan profiled last, by the algorithm whose own bound judged them.
std::map<std::string, int> declared_steps(const SessionStore& store);

}  // namespace amdahl
