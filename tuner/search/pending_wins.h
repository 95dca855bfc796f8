#pragma once
// Wins after their proof: applied to the head at once, confirmed by a second proof minutes later, let through by the whole model
// at a gate, or taken back with what was built on them.

#include <memory>
#include <optional>

#include "tuner/search/gate.h"
#include "tuner/search/head_profile.h"
#include "tuner/search/opportunity.h"
#include "tuner/search/progress_reporter.h"
#include "tuner/search/proof.h"
#include "tuner/search/searcher.h"

namespace amdahl {

class PendingWins {
 public:
  PendingWins(const TuneContext& context, SessionState& state, const SessionBudget& budget, HeadProfile& profile, ProgressReporter& progress)
      : context_(context),
        runner_(context.runner),
        state_(state),
        budget_(budget),
        profile_(profile),
        progress_(progress),
        plain_(starter_plan(context.graph, context.options.threads, runner_.target())) {}

  // Puts a proven win into the head, everywhere it fits: the search goes on on top of it while its confirmation waits.
  void apply(Experiment e, const Opportunity& o, const Proposal& p);

  std::optional<size_t> due_confirmation() const;
  // The second stage: fresh pairs of fresh builds, against the incumbent that the proof had. Everything it needs is in the
  // store, so it may come in another process than the proof. False when time ran out: the win stays pending.
  bool confirm(size_t i);

  // Small wins wait for company: a whole-model pair costs two starts of the model. A session with a budget ends with a gate anyway:
  // one before that may take a tenth of what is left.
  bool gate_is_due() const;
  void run_gate();

  // What a session ends with: every win confirmed, the confirmed ones through the gate, as long as what it took so far fits into the time that is
  // left. A win that waits for lack of time stays pending; a resumed run goes on with it.
  void close();
  // close() has something to do.
  bool may_close() const { return !state_.pending().empty() && !gate_waits_; }
  // The last gate of a session ran over: what it has not decided stays pending.
  bool gate_waits() const { return gate_waits_; }

 private:
  PendingWin win_of(const Experiment& e, const Opportunity& o, const Proposal& p) const;
  Evidence second_evidence(const Experiment& e);
  void keep(size_t i, Experiment& e);
  void take_back(size_t i, Experiment& e, const Evidence& evidence);
  std::optional<LedgerEntry> judge(size_t count);
  size_t follow_verdict(const LedgerEntry& entry, size_t count);

  const TuneContext& context_;
  TrialRunner& runner_;
  SessionState& state_;
  const SessionBudget& budget_;
  HeadProfile& profile_;
  ProgressReporter& progress_;
  const Plan plain_;  // a kernel a node: how exact the model's own steps are, whatever the first plan fuses
  std::unique_ptr<Gate> gate_;
  bool gate_waits_ = false;
};

}  // namespace amdahl
