#pragma once
// What the loop's own policy is compared with.

#include "tuner/search/search_policy.h"

namespace amdahl::ablation {

// Any offer that is worth a try, with equal chances.
class RandomOrder : public SearchPolicy {
 public:
  double priority(const Offer& offer) const override { return offer.luck; }
};

// Down the playbook, tier by tier; what was tried without a win goes behind what was not.
class PlaybookOrder : public SearchPolicy {
 public:
  double priority(const Offer& offer) const override { return -1e6 * offer.tries - static_cast<double>(offer.number); }
};

}  // namespace amdahl::ablation
