#pragma once
// Which experiment next: the opportunity with the highest expected gain of the model per second of trying.
//
//   gain a second = winnable seconds x P(a try of this rewrite wins) x share of the winnable that wins take / cost
//
// P is a bandit's estimate: on how many of the windows where the rewrite was tried it won, older ones fading, on top of a prior; each
// fruitless batch on this very window halves it, and so does whatever else was tried on the window. Windows count, not candidates: a
// rewrite that tries twelve forms and proves the best one has won, as one has whose only form was proven. The cost is what tries on a
// window have cost the rewrite so far beyond their runs, what it takes to run this window as often (trial_costs.h), and, by the chance that
// it comes to that, a proof. All of it is a fold over the session's experiments.
//
// Steps that an untried rewrite would give other kernels (Rewrite::brings_kernels) wait for it: a tile found for a kernel that is
// then replaced has cost its proof, 20 s, for nothing.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "experiments/experiment.h"
#include "tuner/search/opportunity.h"
#include "tuner/search/search_policy.h"

namespace amdahl {

struct SchedulerOptions {
  double fade = 0.9;            // weight of a window that the rewrite was tried on, one window later
  int batch = 6, patience = 3;  // candidates of a try, and tries that end a campaign, at most (TuneOptions)
  std::string backend;          // Target::backend: whose odds are believed; "": nobody's are counted
  double smallest_gain = 5e-4;  // of the model: predicted gains below this are not worth looking for
};

struct Choice {
  size_t opportunity = 0;
  double expected_gain = 0;  // log speedup of the model
  double expected_cost = 0;  // seconds
  double rate() const { return expected_gain / expected_cost; }
  std::string why;  // "attention [12, 64, 64]: 18% of the model, 2.1 ms above its roofline, fuse_attention won 2 of 9"
};

class Scheduler {
 public:
  // `policy` is referred to.
  explicit Scheduler(const SearchPolicy& policy = most_gain_a_second(), const SchedulerOptions& options = {}) : policy_(policy), options_(options) {}

  // In order of experiment id; a later row of the same id replaces the earlier one's effect when all are given again.
  void observe(const Experiment& experiment);
  // A window that cannot be judged, or whose search space is exhausted, until the plan changes.
  void exclude(const std::string& rewrite, const std::string& signature);
  // nullopt: nothing left that is worth a try.
  std::optional<Choice> choose(const std::vector<Opportunity>& opportunities, double model_seconds, Random& random) const;

 private:
  struct Record {
    double wins = 0, windows = 0, seconds = 0;  // faded; seconds of tries, without proofs
    int tries = 0, kept = 0;                    // candidates
    double share_won = 0, shares = 0;           // of the winnable time, by wins
  };
  const Record& record_of(const Opportunity& opportunity) const;
  // What one experiment on a window is of a campaign there, in experiments on a short window.
  double share_of_campaign(double run_seconds) const;
  // nullopt: excluded, or too little to be won. `number` and `luck` are the caller's.
  std::optional<Offer> offer_of(const Opportunity& opportunity, double model_seconds) const;

  const SearchPolicy& policy_;
  SchedulerOptions options_;
  std::map<std::string, Record> rewrites_;
  // What a rewrite has shown on one window: nothing, half a win for a form that others were then built on, a win.
  std::map<std::pair<std::string, std::string>, double> shown_;
  std::map<std::pair<std::string, std::string>, int> fruitless_;  // (rewrite, signature): experiments that did not win
  std::map<std::string, double> tries_on_;                        // by signature; those of long windows count for more
  std::map<std::pair<std::string, std::string>, bool> excluded_;
};

}  // namespace amdahl
