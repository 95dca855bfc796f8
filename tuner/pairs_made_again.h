#pragma once
// Pairs of the whole model during which the host took the CPUs away: made again, as long as that is cheap. On a machine that is
// never quiet, and where a pair takes long (which is never quiet either), pairs are taken as they come.

#include "tuner/laboratory.h"

namespace amdahl {

class PairsMadeAgain {
 public:
  static constexpr double kSeconds = 30;

  explicit PairsMadeAgain(int most) : left_(most) {}

  // Whether this pair, which took `seconds`, counts for nothing.
  bool again(const Paired& pair, double seconds) {
    if (pair.pair.dropped.empty() || left_ == 0 || seconds_left_ <= 0) return false;
    --left_;
    seconds_left_ -= seconds;
    return true;
  }

 private:
  int left_;
  double seconds_left_ = kSeconds;
};

}  // namespace amdahl
