#pragma once
// The loop: measure the default plan, rank, experiment, apply what is proven everywhere it fits, gate end to end, profile
// again, repeat.
//
// All state is in the store. run() continues whatever it finds there; after any interruption nothing that was committed is
// done again.

#include <atomic>
#include <memory>
#include <set>

#include "experiments/session_store.h"
#include "playbook/rewrite.h"
#include "tuner/decision.h"
#include "tuner/gate.h"
#include "tuner/laboratory.h"
#include "tuner/progress.h"
#include "tuner/proof_rules.h"
#include "tuner/scheduler.h"
#include "tuner/searcher.h"

namespace amdahl {

struct TuneOptions {
  double seconds = 0;            // of this and earlier runs together; 0: no limit
  int64_t experiments = 0;       // likewise
  uint64_t seed = 1;             // of everything random
  int threads = 1;
  int burst = 6;                 // candidates built together and raced
  int patience = 3;              // bursts without a faster form that end the search on a window; then its best is proven
  double smallest_gain = 5e-4;   // of the model, log: wins that promise less are not proven
  ProofRules rules;
  // Products of numbers rounded to bfloat16, within `max_error` of the model's outputs (relative norm, against float64).
  bool allow_bf16 = false;
  double max_error = 0.02;

  bool allows(const Rewrite& rewrite) const { return rewrite.wants_allowed().empty() || allow_bf16; }
  GateOptions gate() const;
};
void to_json(Json& j, const TuneOptions& o);
void from_json(const Json& j, TuneOptions& o);

enum class TuneEnd { kTimeUp, kExperimentsDone, kConverged, kStopped };

struct TuneSummary {
  TuneEnd end = TuneEnd::kConverged;
  std::string why;               // one line
  TuneStatus status;
};

class Tuner {
 public:
  // `rewrites` in playbook order. The options are those of this run; the store keeps those of the first.
  Tuner(const Graph& graph, SessionStore& store, Laboratory& laboratory, const std::vector<const Rewrite*>& rewrites,
        const TuneOptions& options, TuneObserver& observer, const std::atomic<bool>& stop);
  ~Tuner();
  // Throws Error when the machine or the model fails us; what was committed stays.
  TuneSummary run();

 private:
  struct Loop;
  std::unique_ptr<Loop> loop_;
};

// The plan that the gate has confirmed (what export and `run` use), or the one with all tentative wins. Throws
// Error(kSessionDamaged) when the store has none.
Plan gated_plan(const SessionStore& store);
Plan head_plan(const SessionStore& store);

}  // namespace amdahl
