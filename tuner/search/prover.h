#pragma once
// The proof that ends a campaign: fresh pairs of processes for its best form, where that promises enough. What is given up for want of time, or for
// something that promises more, may be taken up again.

#include "tuner/search/campaign.h"
#include "tuner/search/progress_reporter.h"
#include "tuner/search/proof.h"

namespace amdahl {

class Prover {
 public:
  Prover(const TuneContext& context, SessionState& state, const SessionBudget& budget, ProgressReporter& progress)
      : context_(context), state_(state), budget_(budget), progress_(progress) {}

  // Records the end of a win that promises too little.
  bool is_worth_a_proof(Campaign::Best& win);
  // True when it is proven: what becomes of it then is the caller's to record. `rate_elsewhere`: what the best of the other opportunities
  // promises the model, log, a second; 0: there is none.
  bool prove(Campaign::Best& win, double rate_elsewhere);

 private:
  std::string why_not_worth_it(const Campaign::Best& win) const;
  Evidence gather(Campaign::Best& win, const DecisionRule& rule, double rate_elsewhere);
  void end(Experiment& e, Outcome outcome, const std::string& stage, const std::string& reason);

  const TuneContext& context_;
  SessionState& state_;
  const SessionBudget& budget_;
  ProgressReporter& progress_;
};

}  // namespace amdahl
