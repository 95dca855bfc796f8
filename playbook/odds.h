#pragma once
// How often a rewrite's best form won on a window, and how much of the window's time, in sessions of the past: what the scheduler
// believes of it until the session at hand knows better.

#include <string_view>
#include <vector>

namespace amdahl {

struct Odds {
  double chance;  // that its best form wins where it matches
  double share;   // of the window's time, that a win takes
};

// On devices of `backend`, whose sessions alone count. `structural`: as Rewrite::structural(), for a rewrite that has not been tried often enough to count.
Odds odds_of(std::string_view rewrite, bool structural, std::string_view backend);

// Those that have been tried often enough: names of the playbook's rewrites.
std::vector<std::string_view> counted_rewrites();

}  // namespace amdahl
