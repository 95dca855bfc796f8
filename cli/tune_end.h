#pragma once
// The last lines of `tune` and `resume`: what was won, what was proven, what remains, what to type next.

#include <string>

#include "experiments/session.h"
#include "tuner/search/tuner.h"

namespace amdahl {

// `path`: the session's. `learnt`: forms that went into wisdom.
void print_end(const Session& session, const std::string& path, const TuneSummary& summary, const TuneOptions& options, int learnt);

}  // namespace amdahl
