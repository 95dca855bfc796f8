#pragma once
// Keep or revert: statistics on log ratios of pairs (incumbent time / challenger time), nothing else. The one place where
// a gain is decided.
//
// A sign test by betting. s_i is +1 when pair i gained more than delta, else -1; the wealth is the mean, over a few stakes
// L, of prod(1 + L s_i). If the challenger does not gain more than delta in the median, the wealth is a non-negative
// supermartingale whatever the noise, so it ever reaches 100 with probability at most 1/100 (Ville's inequality), however
// often one looks. Two such tests on separate pairs: at most 1e-4 for a false keep.

#include <vector>

#include "experiments/experiment.h"

namespace amdahl {

struct DecisionRule {
  double delta = 0.01;         // log ratio that a keep must beat in the median
  double wealth = 100;         // evidence asked of each of the two stages
  int max_pairs = 32;          // a stage that cannot pass within so many fails, as soon as that is known
  int futility_pairs = 8;      // from here on a stage fails when under half of its pairs beat delta
};

class SignTest {
 public:
  enum class Verdict { kOpen, kPassed, kFailed };

  explicit SignTest(const DecisionRule& rule) : rule_(rule) {}
  void add(double log_ratio);
  Verdict verdict() const;
  double wealth() const;
  int pairs() const { return pairs_; }
  int wins() const { return wins_; }

 private:
  DecisionRule rule_;
  int pairs_ = 0, wins_ = 0;
};

// Median and its 95% interval by order statistics (no shape of the noise assumed). With fewer than 6 pairs no such
// interval exists: the range is returned.
Gain estimate(std::vector<double> log_ratios);

double median(std::vector<double> values);

// Does the whole model contradict what was promised? `predicted` and `measured` are log speedups. Wins are promised from
// windows measured alone; the model need not confirm each (it may be too small to see), but its interval must reach half
// of the promise and must not lie below zero.
bool contradicts(double predicted, const Gain& measured);

}  // namespace amdahl
