#pragma once
// The one number of a session: the starter plan against the kept plan, both measured as wholes, now.

#include <functional>

#include "tuner/laboratory.h"
#include "tuner/pairs_made_again.h"

namespace amdahl {

// A 95% interval of the median that two stray pairs do not widen; and the fewest whose range is one.
constexpr int kHeadlinePairs = 12, kFewestHeadlinePairs = 7;
// Profiles of each plan, in turns, that say what single shapes gained.
constexpr int kHeadlineTurns = 3, kHeadlineProfiles = 2 * kHeadlineTurns;

// How many pairs a session sets time aside for: all, unless that is more than a tenth of its budget (seconds; 0: no limit).
int headline_pairs(double budget_seconds, double pair_seconds);

// `pairs` pairs of fresh processes, kFewestHeadlinePairs once `out_of_time` says so; those that the host disturbed are made again, for
// `made_again_seconds` at most. Throws Error(kNotVerified) when one of the plans
// does not run, Stopped on Ctrl-C.
Headline measure_headline(Laboratory& laboratory, const Plan& starter, const Plan& kept, int64_t kept_id, int pairs,
                          Random& random, const std::function<bool()>& out_of_time = [] { return false; }, double made_again_seconds = PairsMadeAgain::kMostSeconds);

}  // namespace amdahl
