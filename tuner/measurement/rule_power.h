#pragma once
// What the decision rule can prove on a machine: the rule itself, played on that machine's noise.

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "tuner/measurement/decision.h"

namespace amdahl {

// By how much the log ratio of a pair differs from the true gain.
struct PairNoise {
  std::vector<double> residuals;  // of pairs of processes of one build, drawn with replacement
  double layout_sd = 0;           // of a build: each arm draws its own
};

struct Power {
  double kept = 0;   // share of trials that pass both stages
  double pairs = 0;  // a trial, both stages, mean
};
Power power_at(const DecisionRule& rule, const PairNoise& noise, double log_gain, int trials, Random& random);

// The smallest log gain, in steps of 0.001, that passes both stages with this probability; kLargestGain when none below does.
constexpr double kLargestGain = 0.5;
double smallest_gain(const DecisionRule& rule, const PairNoise& noise, double chance, uint64_t seed);

}  // namespace amdahl
