#pragma once
// Keep or revert: statistics on log ratios of pairs (incumbent time / challenger time), nothing else. The one place where
// a gain is decided.
//
// A sign test by betting. s_i is +1 when pair i gained more than delta, else -1; the wealth is the mean, over a few stakes
// L, of prod(1 + L s_i). If the challenger does not gain more than delta in the median, the wealth is a non-negative
// supermartingale whatever the noise, so it ever reaches 100 with probability at most 1/100 (Ville's inequality), however
// often one looks. Two such tests on separate pairs: at most 1e-4 for a false keep.
//
// The bound is exact for arms that are exchangeable. A challenger that is only better placed in memory is not: pairs draw
// both arms from placebo builds (starter_kernels/toolchain/placebo.h), other ones in each stage, and delta lies above what is left.

#include <vector>

#include "experiments/experiment.h"

namespace amdahl {

struct DecisionRule {
  double delta = 0.01;         // log ratio that a keep must beat in the median
  double wealth = 100;         // evidence asked of each of the two stages
  int max_pairs = 48;          // a stage that cannot pass within so many fails, as soon as that is known
  int futility_pairs = 8;      // from here on a stage fails when under half of its pairs beat delta
  int builds = 8;              // placebo builds of each arm that a stage draws from; 0: both arms as written
  double confirm_after = 600;  // seconds from the proof to its confirmation: another hour of the neighbours' day
};

class SignTest {
 public:
  enum class Verdict { kOpen, kPassed, kFailed };

  explicit SignTest(const DecisionRule& rule, const std::vector<double>& log_ratios = {});
  void add(double log_ratio);
  Verdict verdict() const;
  double wealth() const;
  // How many more pairs until it passes, when as many of them win as so far (one win and one loss are added to what was seen); at most max_pairs in all.
  double pairs_left() const;
  // And from none on: what the other stage will take.
  double pairs_of_a_stage() const;
  int pairs() const { return pairs_; }
  int wins() const { return wins_; }

 private:
  double pairs_for(double wealth_factor) const;

  DecisionRule rule_;
  int pairs_ = 0, wins_ = 0;
};

// Median and its 95% interval by order statistics (no shape of the noise assumed). With fewer than 6 pairs no such
// interval exists: the range is returned.
Gain estimate(std::vector<double> log_ratios);

// Whether pairs that were lost cost more than those that were won brought: their log ratios, each cut at a factor of four (one pair may be an accident), add up to
// less than zero. A sign test asks for the median, and a challenger that is a little faster in seven processes of eight and four times slower in the
// eighth has a good one.
bool loses_in_sum(const std::vector<double>& log_ratios);

// Whether a challenger whose median is faster is slower in the mean: one call in ten may take a hundred times as long. `worked_…`: seconds of all calls of all
// pairs (Timing). A tenth is let pass: on a busy machine rows of either arm take up to twice as long by accident, and what is slower by more in the mean of
// hundreds of rows is not so by chance.
bool works_more(double worked_incumbent, double worked_challenger);

// Does the whole model contradict what was promised? `predicted` and `measured` are log speedups. Wins are promised from
// windows measured alone; the model need not confirm each (it may be too small to see), but its interval must lie above
// zero, or reach half of the promise.
bool contradicts(double predicted, const Gain& measured);

struct GateRule {
  double delta = 0.01;  // the model may seem slower by so much: a plan is one layout, and is not built again as placebos
  double wealth = 20;   // evidence that it is slower by more: at most one harmless gate in 20 is stopped by it
  int min_pairs = 6;    // the fewest whose range is a 95% interval of the median
  int max_pairs = 12;
};

// The gate's question is the reverse of a proof's: not "is it faster" (its windows are proven), but "does the whole model
// speak against it". Evidence for "slower by more than delta" stops at once, as a sign test with the signs turned; else the
// interval decides when it is clear of zero, or at the last pair.
class ModelTest {
 public:
  enum class Verdict { kOpen, kArrived, kContradicted };

  ModelTest(double predicted, const GateRule& rule);
  void add(double log_ratio);
  Verdict verdict() const;
  Gain measured() const { return estimate(log_ratios_); }

 private:
  double predicted_;
  GateRule rule_;
  SignTest slower_;
  std::vector<double> log_ratios_;
};

}  // namespace amdahl
