#pragma once
// Tries candidates for a campaign's window: builds them, has them validated and raced, and records what became of each.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tuner/search/campaign.h"
#include "tuner/search/known_forms.h"
#include "tuner/search/progress_reporter.h"

namespace amdahl {

class CandidateTrials {
 public:
  CandidateTrials(const TuneContext& context, SessionState& state, const SessionBudget& budget, const KnownForms& known, ProgressReporter& progress)
      : context_(context), runner_(context.runner), state_(state), budget_(budget), known_(known), progress_(progress) {}

  // Makes the trial runner ready for challengers of the campaign's window. Returns "" or why none could be judged.
  std::string enter(const Campaign& campaign);
  // What a campaign on this window takes before its first verdict, as far as that is known, in seconds.
  double seconds_to_first_verdict(const Opportunity& target) const;

  // Forms of one rewrite that were not tried yet; none when its space is exhausted.
  std::vector<Proposal> proposals(const Campaign& campaign, const Opportunity& o) const;
  // Tries these; the fastest becomes the draft. True when one did.
  bool batch(Campaign& campaign, const Rewrite& rewrite, const std::vector<Proposal>& proposals);

 private:
  Experiment start(const Campaign& c, const Rewrite& rewrite, const Proposal& p) const;
  bool screen(Experiment& e, Campaign& c, const Proposal& p, const BuildResult& built);
  void judge_race(Experiment& e, const Campaign& c, const Proposal& p) const;
  void end(Experiment& e, Outcome outcome, const std::string& stage, const std::string& reason);
  std::map<std::string, int64_t>& codes_of(const std::string& signature);

  const TuneContext& context_;
  TrialRunner& runner_;
  SessionState& state_;
  const SessionBudget& budget_;
  const KnownForms& known_;
  ProgressReporter& progress_;
  std::map<std::string, std::map<std::string, int64_t>> codes_;  // signature, object code -> experiment (0: an incumbent)
  int64_t take_backs_ = 0;                                       // as of codes_
  std::set<std::string> ready_;                                  // signatures of windows that were made ready in this run
  double runs_to_enter_ = 0;                                     // what it has taken to make ready for a window, in runs of it: the most of those seen
};

}  // namespace amdahl
