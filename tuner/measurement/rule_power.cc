#include "tuner/measurement/rule_power.h"

#include <algorithm>

namespace amdahl {
namespace {

constexpr int kTrials = 400;  // the standard error of a 95% chance is 1.1%

// One stage: fresh builds of both arms, pairs until the test is decided.
bool passes(const DecisionRule& rule, const PairNoise& noise, double log_gain, Random& random, int* pairs) {
  std::vector<double> a, b;
  for (int i = 0; i < std::max(1, rule.builds); ++i) {
    a.push_back(noise.layout_sd * random.normal());
    b.push_back(noise.layout_sd * random.normal());
  }
  SignTest test(rule);
  while (test.verdict() == SignTest::Verdict::kOpen) {
    const double layout = a[random.below(a.size())] - b[random.below(b.size())];
    const double residual = noise.residuals.empty() ? 0 : noise.residuals[random.below(noise.residuals.size())];
    test.add(log_gain + layout + residual);
  }
  *pairs += test.pairs();
  return test.verdict() == SignTest::Verdict::kPassed;
}

}  // namespace

Power power_at(const DecisionRule& rule, const PairNoise& noise, double log_gain, int trials, Random& random) {
  int kept = 0, pairs = 0;
  for (int t = 0; t < trials; ++t) kept += passes(rule, noise, log_gain, random, &pairs) && passes(rule, noise, log_gain, random, &pairs);
  return {static_cast<double>(kept) / trials, static_cast<double>(pairs) / trials};
}

double smallest_gain(const DecisionRule& rule, const PairNoise& noise, double chance, uint64_t seed) {
  // Power grows with the gain: halve the range.
  int low = 0, high = static_cast<int>(1e3 * kLargestGain);  // `low` is not enough
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    Random random(seed);
    if (power_at(rule, noise, 1e-3 * middle, kTrials, random).kept >= chance) high = middle;
    else low = middle;
  }
  return 1e-3 * high;
}

}  // namespace amdahl
