#pragma once
// What a session amounts to, as text for a terminal of 100 columns and as JSON. Reads only what the store holds, so that it
// works while the loop runs and on sessions of other machines.

#include <string>

#include "experiments/session.h"
#include "experiments/step_groups.h"

namespace amdahl {

struct ReportOptions {
  bool all_experiments = true;  // false: `status`, the last few
  int left_rows = 8;            // rows of "what is left to win"
};

std::string report_text(const SessionStore& store, const SessionIdentity& identity, const ReportOptions& options);
Json report_json(const SessionStore& store, const SessionIdentity& identity);

// The whole model's gain by the gates that were kept: logs add up, half-widths of the intervals add up in squares.
Gain confirmed_gain(const std::vector<LedgerEntry>& ledger);

}  // namespace amdahl
