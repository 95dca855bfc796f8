#pragma once
// The one number of a session: the starter plan against the kept plan, both measured as wholes, now.

#include <functional>
#include <vector>

#include "tuner/trials/pairs_made_again.h"
#include "tuner/trials/trial_runner.h"

namespace amdahl {

// A 95% interval of the median that two stray pairs do not widen; and the fewest whose range is one.
constexpr int kHeadlinePairs = 12, kFewestHeadlinePairs = 7;
// And the most of those that time is left for: 48 have half the interval of 12.
constexpr int kMostHeadlinePairs = 48;
// Profiles of each plan, in turns, that say what single shapes gained.
constexpr int kHeadlineTurns = 3, kHeadlineProfiles = 2 * kHeadlineTurns;

// How many pairs a session sets time aside for: all, unless that is more than a tenth of its budget (seconds; 0: no limit).
int headline_pairs(double budget_seconds, double pair_seconds);

// What a headline's pairs take in turns: other distributions than the normal numbers that plans were chosen on, where the model has inputs that can
// have one: normal, uniform as pixels of images are, sparse with a few large numbers.
std::vector<Distribution> headline_inputs(const Graph& graph);

struct HeadlineOptions {
  int64_t plan = 0;  // the kept one
  int pairs = kHeadlinePairs;
  uint64_t seed = 1;                                        // base/entropy.h: nobody may know the inputs beforehand
  std::vector<Distribution> inputs{Distribution::kNormal};  // headline_inputs()
  // Asked before every pair. Out of time: kFewestHeadlinePairs are enough. Must stop: whatever there is; fewer than those are no headline.
  std::function<bool()> out_of_time = [] { return false; }, must_stop = [] { return false; };
  // Asked after `pairs`: whether there is time for one that takes so many seconds. The clock decides, never what was measured.
  std::function<bool(double)> time_for_another = [](double) { return false; };
  double made_again_seconds = PairsMadeAgain::kMostSeconds;  // at most, for pairs that the host disturbed
};

// Pairs of fresh processes. The gain is that of medians; where single runs of the kept plan take so much longer that its mean is slower (works_more), that of the
// means. Throws Error(kNotVerified) when one of the plans does not run, Stopped on Ctrl-C.
Headline measure_headline(TrialRunner& runner, const Plan& starter, const Plan& kept, const HeadlineOptions& options);

}  // namespace amdahl
