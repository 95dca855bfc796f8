#pragma once
// Pairs of the whole model during which the host took the CPUs away: made again, as long as that is cheap. On a machine that is
// never quiet, and where a pair takes long (which is never quiet either), pairs are taken as they come.

#include <algorithm>

#include "tuner/trials/trial_runner.h"

namespace amdahl {

class PairsMadeAgain {
 public:
  // At most so many pairs, and as many as take `seconds`.
  PairsMadeAgain(int most, double seconds) : left_(most), seconds_left_(seconds) {}

  static constexpr double kMostSeconds = 30;
  // Of a session's budget (0: no limit): 3% a gate or headline.
  static double seconds_of(double budget) { return budget > 0 ? std::min(kMostSeconds, 0.03 * budget) : kMostSeconds; }

  // Whether this pair, which took `seconds`, counts for nothing.
  bool again(const PairTrial& pair, double seconds) {
    if (pair.pair.dropped.empty() || left_ == 0 || seconds_left_ <= 0) return false;
    --left_;
    ++count_;
    seconds_left_ -= seconds;
    return true;
  }
  int count() const { return count_; }

 private:
  int left_, count_ = 0;
  double seconds_left_;
};

}  // namespace amdahl
