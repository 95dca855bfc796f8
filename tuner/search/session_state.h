#pragma once
// What is stored of a session, and the only way to change it: a mirror of the session's store with one method a step of the loop. Each method
// commits once, and tells the observer what it has stored. All of it can be had again from the store.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "profiler/profile.h"
#include "tuner/search/pending_win.h"
#include "tuner/search/tune_context.h"

namespace amdahl {

// What the stages that end a session have taken so far, in seconds. Before the first gate they are guessed from a profile.
struct ClosingCosts {
  double gate = 10;
  double model_pair = 2;  // of processes that run the whole model
  bool measured = false;  // both of them
  double profile = 0;     // the newest
};

class SessionState {
 public:
  // The context outlives it.
  explicit SessionState(const TuneContext& context) : context_(context) {}

  // The clock of this run begins. `seconds_before`: spent on it by the caller already.
  void start_clock(double seconds_before);
  // A new session's first plan is the starter plan; else goes on with what an earlier run left.
  bool is_new() const { return context_.store.state().is_null(); }
  void begin();
  void load();

  // ---- steps of the loop -----------------------------------------------------------------------------------------------

  // A trial's end, or where it stands.
  void record(const Experiment& e);
  // A proven win becomes part of the head: `next` is the head with it. Fills in which experiment and plan the win is of.
  void adopt(const Experiment& e, PendingWin win, const Plan& next);
  // Pending win `i` passed its second proof.
  void confirm(size_t i, const Experiment& e, double predicted);
  // Pending win `i` did not; `e` says why. Later wins elsewhere stay, moved to the plan without it; what was built on top of it goes too, and is
  // taken up again before anything new is tried there.
  void take_back(size_t i, const Experiment& e);
  // The whole model has confirmed the first `count` pending wins.
  void pass_gate(const LedgerEntry& entry, size_t count);
  // It contradicts several, and it is not known which.
  void fail_gate(const LedgerEntry& entry);
  // It contradicts the first one, whose experiment is `culprit`.
  void roll_back(const LedgerEntry& entry, const Experiment& culprit);
  // A profile of the head that took so many seconds.
  void add_profile(const Profile& profile, double seconds);
  // The seconds spent, and on what.
  void commit_seconds();

  // ---- what goes into the store with the next of them --------------------------------------------------------------------

  // Seconds that belong to no experiment: "machine", "judge" (made ready), "build" (of whole plans), "gate", "profile".
  void spend(const std::string& phase, double seconds) { phases_[phase] += seconds; }
  // Of one pair; 0: none was measured.
  void note_gate(double seconds, double pair_seconds);
  // Holds until a gate has been measured.
  void guess_model_pair(double seconds);

  // ---- questions -------------------------------------------------------------------------------------------------------

  const std::map<int64_t, Experiment>& experiments() const { return experiments_; }
  const Experiment& experiment(int64_t id) const { return experiments_.at(id); }
  int64_t next_experiment() const { return experiments_.empty() ? 1 : experiments_.rbegin()->first + 1; }
  int64_t next_ledger_entry() const { return ledger_rows_ + 1; }
  bool has_plans() const { return !plans_.empty(); }
  Plan plan(int64_t id) const { return plans_.at(id).plan.get<Plan>(); }
  const Plan& starter() const { return starter_; }
  const Plan& head() const { return head_; }
  int64_t head_id() const { return head_id_; }
  int64_t gated_id() const { return gated_id_; }
  bool has_kept() const { return gated_id_ != plans_.begin()->first; }  // a gate has let something through
  int64_t take_backs() const { return take_backs_; }                    // in this run
  const std::vector<PendingWin>& pending() const { return pending_; }
  // The oldest win without its confirmation: later ones stand on it.
  std::optional<size_t> unconfirmed() const;
  // Leading pending wins that may go to the gate.
  size_t confirmed() const { return unconfirmed().value_or(pending_.size()); }
  const ClosingCosts& costs() const { return costs_; }
  double last_gate_at() const { return last_gate_at_; }  // in seconds spent
  std::optional<ProfileRecord> newest_profile_of_head() const;

  double since(double start) const { return context_.runner.now() - start; }
  double spent() const { return earlier_seconds_ + since(started_); }
  double earlier_seconds() const { return earlier_seconds_; }  // spent by earlier runs
  double baseline_seconds() const { return baseline_seconds_; }
  double proven_log() const { return proven_log_; }
  // A run of the head: the starter's time, less what the gate has measured and what the wins that wait for it promise. A profile of now over
  // one of the session's start would show the machine's moods too: on a shared one, ten wins were once shown as a loss.
  double current_seconds() const;

 private:
  Json state() const;
  void commit(Commit c);
  void add_texts(const Experiment& e, Commit& c) const;
  void commit_gate(const LedgerEntry& entry, Commit c);
  void drop(size_t i, Commit& c);
  // False when the win was built on what is gone. `number`: of the plan that it makes.
  bool move_to_head(PendingWin win, int64_t number, Commit& c);

  const TuneContext& context_;

  // Mirrors the store.
  std::map<int64_t, Experiment> experiments_;
  std::map<int64_t, PlanRecord> plans_;
  int64_t ledger_rows_ = 0, profile_rows_ = 0;
  int64_t head_id_ = 0, gated_id_ = 0;
  std::vector<PendingWin> pending_;
  double earlier_seconds_ = 0;
  double last_gate_at_ = 0;
  double proven_log_ = 0;
  double baseline_seconds_ = 0;
  std::map<std::string, double> phases_;
  ClosingCosts costs_;

  // Derived.
  Plan starter_, head_;
  double started_ = 0;  // by the trial runner's clock
  int64_t take_backs_ = 0;
};

}  // namespace amdahl
