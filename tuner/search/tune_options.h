#pragma once
// What a user may set about a tuning session. Kept in the session as JSON: a resumed run finds the first run's options.

#include <algorithm>
#include <cstdint>

#include "playbook/rewrite.h"
#include "tuner/measurement/proof_rules.h"
#include "tuner/search/gate.h"

namespace amdahl {

struct TuneOptions {
  double seconds = 0;       // of this and earlier runs together; 0: no limit
  int64_t experiments = 0;  // likewise
  uint64_t seed = 1;        // of what is tried next
  uint64_t entropy = 0;     // of the session, drawn when it began (base/entropy.h): a seed that the user gives must not tell what is timed or checked
  int threads = 1;
  int batch = 6;                // candidates built together and raced; fewer where a run takes long (trial_costs.h)
  int patience = 3;             // batches without a faster form that end the search on a window, fewer likewise; then its best is proven
  double smallest_gain = 5e-4;  // of the model, log: wins that promise less are not proven
  ProofRules rules;
  // Products of numbers rounded to bfloat16, within `max_error` of the model's outputs (relative norm, against float64).
  bool allow_bf16 = false;
  double max_error = 0.02;

  // Of everything that is timed or checked, and of the order in which it is.
  uint64_t judged_seed() const { return seed * 0x9e3779b97f4a7c15ull ^ entropy; }
  bool allows(const Rewrite& rewrite) const { return rewrite.wants_allowed().empty() || allow_bf16; }
  GateOptions gate() const;
};
// How far a session may run over its budget, everything included: a tenth, or 20 seconds.
inline double overrun_allowed(double budget_seconds) { return std::max(0.1 * budget_seconds, 20.0); }
// When the last pair of a headline must have begun.
inline double latest_headline(double budget_seconds) { return budget_seconds + 0.9 * overrun_allowed(budget_seconds); }

void to_json(Json& j, const TuneOptions& o);
void from_json(const Json& j, TuneOptions& o);

}  // namespace amdahl
