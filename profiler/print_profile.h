#pragma once
// A profile as a table for a terminal of 100 columns, and as JSON.

#include <nlohmann/json.hpp>
#include <string>

#include "profiler/counters.h"
#include "profiler/profile.h"

namespace amdahl {

// `rows`: groups shown; the others are summed into one line. `wide` adds operations, bytes, intensity and the share of the
// roofline that is reached (130 columns).
std::string profile_table(const Profile& profile, const Ceilings& ceilings, int rows = 20, bool wide = false);
// One or two lines.
std::string counters_text(const CounterReading& reading, int runs);
// Ceilings as a small table.
std::string ceilings_table(const Ceilings& ceilings);

// Units in the names: seconds, flops, bytes. `ranking` refers to `steps` by plan index.
nlohmann::json profile_json(const Profile& profile);

}  // namespace amdahl
