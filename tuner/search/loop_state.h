#pragma once
// What the loop knows, and what all its parts do with it: a mirror of the session's store, the head plan with its profile, the
// clock, and what it tells its observer. All of it can be had again from the store.

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "experiments/session_store.h"
#include "tuner/trials/laboratory.h"
#include "tuner/search/opportunity.h"
#include "tuner/search/progress.h"
#include "tuner/search/proof.h"
#include "tuner/search/tune_options.h"

namespace amdahl {

// A win that is applied but has not passed the gate: proven, then confirmed on fresh pairs later. Each was found on top of
// the one before.
struct PendingWin {
  int64_t experiment = 0, plan = 0;
  double predicted = 0;   // log speedup of the model
  double share = 1;       // of the model's time that all its places had
  double proven_at = 0, confirm_at = 0;  // in seconds spent
  bool confirmed = false;
};
void to_json(Json& j, const PendingWin& p);
void from_json(const Json& j, PendingWin& p);

inline double percent(double log) { return 100 * std::expm1(log); }

// No class with secrets: the parts of the loop are functions over it.
struct LoopState {
  const Graph& graph;
  SessionStore& store;
  Laboratory& lab;
  TuneOptions options;
  TuneObserver& observer;
  const std::atomic<bool>& stop;

  // Mirrors the store.
  std::map<int64_t, Experiment> experiments;
  std::map<int64_t, PlanRecord> plans;
  int64_t ledger_rows = 0, profile_rows = 0;
  int64_t head_id = 0, gated_id = 0;
  std::vector<PendingWin> pending;
  double seconds_before = 0;  // spent by earlier runs
  double last_gate_at = 0;    // in seconds spent
  double proven_log = 0;
  std::map<std::string, double> phases;  // seconds that belong to no experiment: "judge" (made ready), "build" (of whole plans), "gate", "profile", "headline"

  // Derived.
  Plan starter, head;
  Profile profile;
  std::vector<Opportunity> opportunities;
  std::set<std::pair<std::string, std::string>> exhausted;      // (rewrite, signature), on this head
  std::map<std::string, std::map<std::string, int64_t>> codes;  // signature, object code -> experiment (0: an incumbent)
  TuneStatus status;
  double gate_seconds = 10;   // what the next gate will take
  double model_pair_seconds = 2;  // and one pair of processes that run the whole model
  double judge_runs = 0;          // what it has taken to make ready for a window, in runs of it: the most of those seen
  bool gate_measured = false;     // both are measured, not guessed from a profile
  double started = 0;         // by the laboratory's clock
  double profile_seconds = 0, profiled_at = 0;  // what the newest measured profile took, and when
  int64_t profiled_id = 0;                      // the plan it is of

  double since(double start) const { return lab.now() - start; }
  double spent() const { return seconds_before + since(started); }
  bool out_of_time() const { return options.seconds > 0 && spent() > options.seconds; }
  // What closes a session may run over by half of what the user is promised; the other half is for what takes longer than it did before.
  double latest_end() const { return options.seconds + 0.5 * overrun_allowed(options.seconds); }
  bool fits(double seconds) const { return fits(seconds, latest_end()); }
  bool fits(double seconds, double latest) const { return options.seconds <= 0 || spent() + seconds <= latest; }
  void check_stop() const;

  // The store. What is committed takes the rest of the loop's state along.
  Json state() const;
  void commit(Commit c);
  void add_texts(const Experiment& e, Commit& c) const;
  void begin();  // a new session: the starter plan
  void load();   // what an earlier run left
  void measure_profile();  // of the head
  // After a win over `before`, the head until now: measured where that takes a tenth of the time since the last one, else carried over
  // (tuner/search/carried_profile.h) and not recorded. Two of four shapes of gpt2 were 71% of a session's first 1.7 minutes.
  void follow_profile(const Plan& before, double log_gain);

  // A run of the head: the starter's time, less what the gate has measured and what the wins that wait for it promise. A profile of now over
  // one of the session's start would show the machine's moods too: on a shared one, ten wins were once shown as a loss.
  double current_seconds() const;

  // Tells the observer. Throws Stopped.
  void say(const std::string& phase);

  Random random_for(int64_t number, uint64_t salt) const;     // of what is tried: by the seed alone
  Random judged_random(int64_t number, uint64_t salt) const;  // of what is timed or checked: nobody knows it beforehand
  int64_t next_id() const { return experiments.empty() ? 1 : experiments.rbegin()->first + 1; }
  static std::vector<Step> steps_of(const Plan& plan, const Window& window);
  WindowTask task_on(const Plan& plan, const std::string& sign, const Window& window) const;

  // Records an experiment's outcome.
  void end(Experiment& e, const Failure& f);
  void end(Experiment& e, Outcome outcome, const std::string& stage, const std::string& reason);
  // Records what a stage saw; the outcome is the caller's.
  static void note(Experiment& e, const Evidence& evidence);
  static std::string not_proven(const Evidence& evidence);
  static Outcome outcome_of(const Evidence& evidence);
};

}  // namespace amdahl
