#pragma once
// The search inside a campaign: batch after batch on top of the draft, until what is left on its window is not worth its time.

#include <vector>

#include "tuner/search/candidate_trials.h"
#include "tuner/search/progress_reporter.h"
#include "tuner/search/prospects.h"

namespace amdahl {

class CampaignSearch {
 public:
  CampaignSearch(const TuneContext& context, const SessionState& state, const SessionBudget& budget, Prospects& prospects, CandidateTrials& trials,
                 ProgressReporter& progress)
      : context_(context), state_(state), budget_(budget), prospects_(prospects), trials_(trials), progress_(progress) {}

  // Asked when the campaign's window has been entered. `unproven`: what an interrupted run left there. `rate`: what the campaign's target
  // promises the model, log, a second.
  void run(Campaign& c, const std::vector<Proposal>& unproven, double rate);

 private:
  std::optional<Inside> choose_inside(const Campaign& c);
  void try_batch(Campaign& c, std::optional<Inside> next);
  bool another_form_comes_first(const Opportunity& target, double rate_inside);
  void race_control(Campaign& c);

  const TuneContext& context_;
  const SessionState& state_;
  const SessionBudget& budget_;
  Prospects& prospects_;
  CandidateTrials& trials_;
  ProgressReporter& progress_;
};

}  // namespace amdahl
