#pragma once
// What follows when the headline contradicts the ledger: the plan that all gates let through is slower than the starter.

#include "experiments/session_store.h"

namespace amdahl {

// Takes the newest kept step out of the session, with whatever stands on it: one commit. False when no step is kept.
bool revert_newest_keep(SessionStore& store, const Gain& headline);

}  // namespace amdahl
