#pragma once
// Pairs that did not count, and why that favours nobody.
//
// A rule drops a pair because others disturbed it, by what a candidate cannot cause (others_time.h). Should it find a way all the same, it would use
// it to have its bad pairs dropped. So the sides must balance: a pair that the challenger lost is dropped only in exchange for one that it won and that was
// dropped, too; what remains of its losses counts after all.

#include <algorithm>
#include <vector>

namespace amdahl {

class DroppedPairs {
 public:
  // `won`: it spoke for the challenger.
  void add(double log_ratio, bool won) {
    all_.push_back(log_ratio);
    if (won) ++wins_;
    else losses_.push_back(log_ratio);
  }
  // Losses that no win balances; from now on they count, and are not among those dropped.
  std::vector<double> take_owed() {
    const size_t free = std::min(wins_, losses_.size());
    std::vector<double> owed(losses_.begin() + static_cast<std::ptrdiff_t>(free), losses_.end());
    losses_.resize(free);
    for (double loss : owed) all_.erase(std::find(all_.begin(), all_.end(), loss));
    return owed;
  }
  bool owes() const { return losses_.size() > wins_; }
  const std::vector<double>& log_ratios() const { return all_; }
  int count() const { return static_cast<int>(all_.size()); }

 private:
  std::vector<double> all_, losses_;
  size_t wins_ = 0;
};

}  // namespace amdahl
