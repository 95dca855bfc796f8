#pragma once
// The loop: measure the default plan, rank, experiment, apply what is proven everywhere it fits, gate end to end, profile
// again, repeat.
//
// All state is in the store. run() continues whatever it finds there; after any interruption nothing that was committed is
// done again.

#include <memory>
#include <string>

#include "plan/plan.h"
#include "tuner/search/tune_context.h"

namespace amdahl {

// kBusy: what is left to win could not be told from what other programs took.
enum class TuneEnd { kTimeUp, kExperimentsDone, kConverged, kBusy, kStopped };

struct TuneSummary {
  TuneEnd end = TuneEnd::kConverged;
  std::string why;  // one line
  TuneStatus status;
};

class Tuner {
 public:
  explicit Tuner(const TuneContext& context);
  ~Tuner();
  // `seconds_before`: spent on this run by the caller already, on what it measured of the machine; it counts as the session's. Throws Error when
  // the machine or the model fails us; what was committed stays.
  TuneSummary run(double seconds_before = 0);

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

// The plan that the gate has confirmed (what export and `run` use), the one with all tentative wins, and the one that the session began with. Throws
// Error(kSessionDamaged) when the store has none.
Plan gated_plan(const SessionStore& store);
Plan head_plan(const SessionStore& store);
Plan plan_at_start(const SessionStore& store);

}  // namespace amdahl
