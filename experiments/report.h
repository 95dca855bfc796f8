#pragma once
// What a session amounts to, as text for a terminal of 100 columns and as JSON. Reads only what the store holds, so that it
// works while the loop runs and on sessions of other machines.

#include <string>

#include "experiments/session.h"

namespace amdahl {

struct ReportOptions {
  bool all_experiments = true;  // false: `status`, the last few
  int left_rows = 8;            // rows of "what is left to win"
};

std::string report_text(const SessionStore& store, const SessionIdentity& identity, const ReportOptions& options);
Json report_json(const SessionStore& store, const SessionIdentity& identity);

// One group of equal steps of the last profiled plan.
struct LeftToWin {
  std::string kind, shapes;
  int count = 0;
  double seconds = 0, floor_seconds = 0;
};
// Most winnable first, from the newest profile whose plan is known; empty before the first profile.
std::vector<LeftToWin> left_to_win(const SessionStore& store);

// The whole model's gain by the gates that were kept: logs add up, half-widths of the intervals add up in squares.
Gain confirmed_gain(const std::vector<LedgerEntry>& ledger);

}  // namespace amdahl
