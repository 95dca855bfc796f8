#pragma once
// Which of the offers that are worth a try comes next: the one with the highest priority. The loop's own policy is the
// highest expected gain a second; it is replaceable so that it can be compared with others (bench/ablation).

#include <cstddef>

namespace amdahl {

// What the scheduler knows of one rewrite on one window.
struct Offer {
  size_t number = 0;   // in playbook order, then in the order of the plan
  double gain = 0;     // log speedup of the model, when it wins
  double chance = 0;   // that it does
  double seconds = 0;  // that a try takes
  int tries = 0;       // experiments here that did not win
  double luck = 0;     // a standard normal number of its own
};

class SearchPolicy {
 public:
  virtual ~SearchPolicy() = default;
  virtual double priority(const Offer& offer) const = 0;
};

const SearchPolicy& most_gain_a_second();

}  // namespace amdahl
