#include "tuner/search/verdict.h"

#include <fmt/format.h>

#include "base/counted.h"
#include "base/statistics.h"
#include "tuner/measurement/decision.h"

namespace amdahl {

void set_verdict(Experiment& e, Outcome outcome, const std::string& stage, const std::string& reason) {
  e.outcome = outcome;
  e.stage = stage;
  e.reason = reason;
}

void set_verdict(Experiment& e, const Failure& failure) {
  e.seed = failure.seed;
  e.code = failure.code;
  set_verdict(e, failure.outcome, failure.stage, failure.reason);
}

void add_evidence(Experiment& e, const Evidence& evidence) {
  e.pairs_dropped += static_cast<int>(evidence.dropped.size());
  e.dropped_log_ratios.insert(e.dropped_log_ratios.end(), evidence.dropped.begin(), evidence.dropped.end());
  if (evidence.log_ratios.empty() || evidence.end == Evidence::End::kBroken) return;
  e.incumbent_seconds = evidence.incumbent_seconds;
  e.challenger_seconds = evidence.challenger_seconds;
}

Outcome outcome_of(const Evidence& evidence) { return median(evidence.log_ratios) > 0 ? Outcome::kInconclusive : Outcome::kReverted; }

std::string not_proven(const Evidence& evidence) {
  const double gain = median(evidence.log_ratios);
  const std::string pairs = counted(evidence.log_ratios.size(), "pair");
  if (evidence.worked_more && gain > 0)
    return fmt::format("{:+.1f}% in the median of {}, but slower in the mean: single calls take far longer", percent(gain), pairs);
  return fmt::format("{:+.1f}% in the median of {}, not proven", percent(gain), pairs);
}

}  // namespace amdahl
