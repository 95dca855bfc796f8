#pragma once
// How often a rewrite's best form won on a window, and how much of the window's time, in sessions of the past: what the scheduler
// believes of it until the session at hand knows better.

#include <string_view>

namespace amdahl {

struct Odds {
  double chance;  // that its best form wins where it matches
  double share;   // of the window's time, that a win takes
};

// `structural`: as Rewrite::structural(), for a rewrite that has not been tried often enough to count.
Odds odds_of(std::string_view rewrite, bool structural);

}  // namespace amdahl
