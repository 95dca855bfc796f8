#pragma once
// How a trial's end is written into its experiment, and read from it.

#include <cmath>
#include <string>

#include "experiments/experiment.h"
#include "tuner/search/proof.h"

namespace amdahl {

inline double percent(double log) { return 100 * std::expm1(log); }

void set_verdict(Experiment& e, Outcome outcome, const std::string& stage, const std::string& reason);
void set_verdict(Experiment& e, const Failure& failure);

// A candidate that was only rolled back with another win may come again.
inline bool may_return(const Experiment& e) { return e.stage == "gate" && e.outcome == Outcome::kInconclusive; }
// It is faster in its race, and not proven.
inline bool won_its_race(const Experiment& e) { return e.stage == "race" && e.outcome == Outcome::kInconclusive; }

// What a stage of a proof saw; the verdict is the caller's.
void add_evidence(Experiment& e, const Evidence& evidence);
// Of a stage that was not passed: what became of the win, and the words for it.
Outcome outcome_of(const Evidence& evidence);
std::string not_proven(const Evidence& evidence);

}  // namespace amdahl
