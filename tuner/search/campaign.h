#pragma once
// The search for a faster form of one window, up to the one proof that ends it (docs/decisions/0005-one-proof-a-campaign.md): the draft that it has
// come to, and the best form that is worth a proof. It decides what counts as faster; it neither measures nor records.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tuner/search/draft.h"
#include "tuner/search/opportunity.h"
#include "tuner/search/searcher.h"
#include "tuner/trials/trial_runner.h"

namespace amdahl {

class Campaign {
 public:
  // The fastest form so far that passed validation and won its race against the incumbent.
  struct Best {
    Experiment experiment;
    Proposal form;
    BuildResult built;
  };

  // `target` is an opportunity on `head`; a run of that takes `model_seconds`. Graph and head outlive the campaign.
  Campaign(const Graph& graph, const Plan& head, const Opportunity& target, double model_seconds);

  const Opportunity& target() const { return target_; }
  const WindowTask& task() const { return task_; }
  const std::string& incumbent() const { return incumbent_; }  // candidate_id
  double run_seconds() const { return run_seconds_of(target_); }
  double share() const { return share_; }  // of the model's time, that all places of the window have
  static double run_seconds_of(const Opportunity& o) { return o.seconds / static_cast<double>(o.windows.size()); }

  // What `rewrites` offer on top of the draft, without those that brought nothing since it last became faster.
  std::vector<Opportunity> offers(const std::vector<const Rewrite*>& rewrites, const Target& target) const;
  // The whole window with `replacement` in place of the match's steps.
  std::vector<Step> form(const Match& match, const std::vector<Step>& replacement) const { return draft_.form(match, replacement); }

  // Ratios are log(incumbent / form). What a form must exceed to become the draft: the first of a batch of this rewrite, and one after another.
  double bar_for(const Rewrite& rewrite) const;
  double next_bar() const;
  // What it must exceed to wait for a proof, of a rule that proves gains from `delta` on. A tie with the best must not be taken up again as unproven.
  double bar_for_proof(double delta) const;
  double best_ratio() const { return best_ ? best_->experiment.race_log_ratio : 0; }
  double pace_ratio() const { return pace_ratio_; }  // of the form that challengers race
  const std::optional<Best>& best() const { return best_; }

  // A form has passed the bar. `sets_pace`: the next ones race it.
  void lead(const Experiment& e, const Proposal& form, const BuildResult& built, bool sets_pace);
  // From now on challengers race the incumbent.
  void lose_pace() { pace_ratio_ = 0; }
  // A batch is over, and this form of it led.
  void assume(const std::vector<Step>& form);
  // This rewrite has brought nothing.
  void give_up(const Rewrite& rewrite) { fruitless_.insert(std::string(rewrite.name())); }

 private:
  Opportunity target_;
  WindowTask task_;
  std::string incumbent_;
  double share_;
  Draft draft_;
  double draft_ratio_ = 0;  // in the race; a first form of a fusion may start below zero
  double pace_ratio_ = 0;
  std::set<std::string> fruitless_;  // rewrites
  std::optional<Best> best_;
};

}  // namespace amdahl
