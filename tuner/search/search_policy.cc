#include "tuner/search/search_policy.h"

#include <cmath>

namespace amdahl {
namespace {

class MostGainASecond : public SearchPolicy {
 public:
  double priority(const Offer& o) const override {
    const double jitter = std::exp(0.25 * o.luck);  // near ties are explored, not always the same way
    return o.gain * o.chance / o.seconds * jitter;
  }
};

}  // namespace

const SearchPolicy& most_gain_a_second() {
  static const MostGainASecond policy;
  return policy;
}

}  // namespace amdahl
