#pragma once
// What of a session's plan may leave it.

#include "cli/commands.h"
#include "experiments/session_store.h"
#include "plan/plan.h"

namespace amdahl {

// For global.backend: the plan with texts that are not this program's as they were judged (Toolchain::resolve). Throws Error(kNotVerified) when one of
// them was not proven in this session, or does not become the machine code that was judged.
Plan exportable_plan(const SessionStore& session, Plan plan, const GlobalOptions& global);

}  // namespace amdahl
