#pragma once
// The loop: measure the default plan, rank, experiment, apply what is proven everywhere it fits, gate end to end, profile
// again, repeat.
//
// All state is in the store. run() continues whatever it finds there; after any interruption nothing that was committed is
// done again.

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "experiments/session_store.h"
#include "experiments/wisdom.h"
#include "playbook/rewrite.h"
#include "tuner/trials/laboratory.h"
#include "tuner/search/progress.h"
#include "tuner/search/search_policy.h"
#include "tuner/search/tune_options.h"

namespace amdahl {

// kBusy: what is left to win could not be told from what other programs took.
enum class TuneEnd { kTimeUp, kExperimentsDone, kConverged, kBusy, kStopped };

struct TuneSummary {
  TuneEnd end = TuneEnd::kConverged;
  std::string why;               // one line
  TuneStatus status;
};

class Tuner {
 public:
  // `rewrites` in playbook order. The options are those of this run; the store keeps those of the first. `known`: forms proven in
  // earlier sessions, by signature of their window (known_at()); where one promises anything it is the first to be tried there.
  Tuner(const Graph& graph, SessionStore& store, Laboratory& laboratory, const std::vector<const Rewrite*>& rewrites,
        const TuneOptions& options, TuneObserver& observer, const std::atomic<bool>& stop, std::map<std::string, WisdomForm> known = {},
        const SearchPolicy& policy = most_gain_a_second());
  ~Tuner();
  // `seconds_before`: spent on this run by the caller already, on what it measured of the machine; it counts as the session's. Throws Error when
  // the machine or the model fails us; what was committed stays.
  TuneSummary run(double seconds_before = 0);

 private:
  struct Loop;
  std::unique_ptr<Loop> loop_;
};

// The plan that the gate has confirmed (what export and `run` use), or the one with all tentative wins. Throws
// Error(kSessionDamaged) when the store has none.
Plan gated_plan(const SessionStore& store);
Plan head_plan(const SessionStore& store);

}  // namespace amdahl
