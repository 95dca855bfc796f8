#pragma once
// The end-to-end gate: the whole model with and without the wins, in pairs of fresh processes, and its outputs against
// float64. A win of a window is tentative until it has passed here. Plans are not built as placebos: hundreds of kernels
// eight times over, for a question that a window's proof has answered already.

#include <algorithm>
#include <functional>
#include <optional>

#include "experiments/experiment.h"
#include "tuner/measurement/decision.h"
#include "tuner/trials/pairs_made_again.h"
#include "tuner/trials/trial_runner.h"

namespace amdahl {

struct GateOptions {
  GateRule rule;
  // Error of the model's outputs (relative norm, against float64): at most twice that of a kernel a node, or this more.
  double error_floor = 1e-6;
  double allowed_error = 0;                                  // what the user allows where precision is reduced, if that is more
  double made_again_seconds = PairsMadeAgain::kMostSeconds;  // for pairs that the host disturbed

  double limit(double starter_error) const { return std::max(2 * starter_error + error_floor, allowed_error); }
};

// Of a model's outputs: with fewer numbers among them a check of the whole model proves nothing.
inline constexpr double kFewestJudged = 0.5;
std::string nothing_to_judge(double judged);

class Gate {
 public:
  // `plain`: a kernel a node (starter_plan()), the yardstick of errors. It must outlive this.
  Gate(TrialRunner& runner, const Plan& plain, const GateOptions& options = {}) : runner_(runner), plain_(plain), options_(options) {}

  // Of one pair, by the trial runner's clock; 0 before the first.
  double pair_seconds() const { return pair_seconds_; }

  // Fills measured, before_seconds, after_seconds, error_ratio, kept and reason; the rest is the caller's. `give_up` is asked before every pair:
  // then nothing is decided.
  std::optional<LedgerEntry> judge(
      const Plan& before, const Plan& after, double predicted, Random& random, const std::function<bool()>& give_up = [] { return false; });

 private:
  TrialRunner& runner_;
  const Plan& plain_;
  GateOptions options_;
  double pair_seconds_ = 0;
};

}  // namespace amdahl
