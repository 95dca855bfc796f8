#pragma once
// When a session's wins came: noted while it runs, read when it has ended, so that only what stood to the end counts.

#include <map>
#include <vector>

#include "experiments/session_store.h"
#include "tuner/search/progress.h"
#include "tuner/trials/trial_runner.h"

namespace amdahl::ablation {

// The proof of a kept experiment: from then on the plan had it.
struct Win {
  double at = 0;     // seconds since the session began
  double log = 0;    // of the model, by Amdahl's law from the confirmed gain of its windows
  int64_t plan = 0;  // with this win and all before it
};

class ProofTimes : public TuneObserver {
 public:
  // The session begins now, by this trial runner's clock.
  explicit ProofTimes(const TrialRunner& clock) : clock_(clock), started_(clock.now()) {}
  void on_experiment(const Experiment& e) override {
    if (e.stage == "proven") proven_at_[e.id] = clock_.now() - started_;
  }
  const std::map<int64_t, double>& proven_at() const { return proven_at_; }

 private:
  const TrialRunner& clock_;
  double started_;
  std::map<int64_t, double> proven_at_;
};

// In order of time.
std::vector<Win> wins_of(const SessionStore& store, const std::map<int64_t, double>& proven_at);
// Sum of logs of the wins that were there after so many seconds.
double log_after(const std::vector<Win>& wins, double seconds);
// The newest plan of then; `otherwise` when there was no win yet.
int64_t plan_after(const std::vector<Win>& wins, double seconds, int64_t otherwise);
// When `share` of the final log was there; 0 without a win.
double seconds_to(const std::vector<Win>& wins, double share);

}  // namespace amdahl::ablation
