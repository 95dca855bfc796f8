#pragma once
// Where the time of a session went.

#include <string>
#include <utility>
#include <vector>

#include "experiments/session_store.h"

namespace amdahl {

// Seconds of each part, in the order in which an experiment meets them, without parts that took none: "machine" (its ceilings, before the first step), "judge" (references and the
// processes of a window), "build", "validate", "race", "prove", "confirm", "gate" (the whole model), "profile", "headline", and "rest". They add
// up to what the session has spent; empty for a session that has not begun.
std::vector<std::pair<std::string, double>> session_time(const SessionStore& store);

}  // namespace amdahl
