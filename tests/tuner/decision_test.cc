// Statistics on synthetic noise: no clock is read.

#include "tuner/decision.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace amdahl {
namespace {

// A pair of fresh processes: true log gain, process offset of 1%, and now and then a neighbour's burst in either arm.
double noisy_pair(Random& random, double gain) {
  double d = gain + 0.014 * random.normal();
  if (random.below(12) == 0) d += (random.below(2) ? 0.06 : -0.06) * random.uniform();
  return d;
}

struct Trial {
  bool kept = false;
  int pairs = 0;
  Gain gain;
};

Trial decide(Random& random, double gain, const DecisionRule& rule) {
  Trial t;
  for (int stage = 0; stage < 2; ++stage) {
    SignTest test(rule);
    std::vector<double> d;
    while (test.verdict() == SignTest::Verdict::kOpen) {
      d.push_back(noisy_pair(random, gain));
      test.add(d.back());
    }
    t.pairs += test.pairs();
    if (test.verdict() == SignTest::Verdict::kFailed) return t;
    t.gain = estimate(d);
  }
  t.kept = true;
  return t;
}

double keep_rate(double gain, int trials, double* mean_claim = nullptr) {
  Random random(2024);
  int kept = 0;
  double claim = 0;
  for (int i = 0; i < trials; ++i) {
    const Trial t = decide(random, gain, {});
    kept += t.kept;
    if (t.kept) claim += t.gain.log;
  }
  if (mean_claim) *mean_claim = kept ? claim / kept : 0;
  return static_cast<double>(kept) / trials;
}

TEST(SignTest, KeepsNothingThatIsNotFaster) { EXPECT_EQ(keep_rate(0.0, 3000), 0.0); }

TEST(SignTest, KeepsNothingThatGainsExactlyDelta) {
  // The boundary of the hypothesis: at most 1e-4, so none of 3000 is expected.
  EXPECT_LE(keep_rate(0.01, 3000), 1.0 / 3000);
}

TEST(SignTest, FindsRealGains) {
  double claim = 0;
  EXPECT_GT(keep_rate(0.05, 500, &claim), 0.99);
  EXPECT_NEAR(claim, 0.05, 0.003);
  EXPECT_GT(keep_rate(0.03, 500, &claim), 0.9);
  EXPECT_NEAR(claim, 0.03, 0.003);
}

TEST(SignTest, WealthIsAFairGameUnderTheNull) {
  // Mean wealth after any fixed number of fair pairs is 1.
  Random random(7);
  double sum = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    SignTest test({});
    for (int i = 0; i < 6; ++i) test.add(random.below(2) ? 1.0 : -1.0);
    sum += test.wealth();
  }
  EXPECT_NEAR(sum / 20000, 1.0, 0.1);
}

TEST(SignTest, NeedsNineAgreeingPairs) {
  SignTest test({});
  for (int i = 0; i < 8; ++i) test.add(0.2);
  EXPECT_EQ(test.verdict(), SignTest::Verdict::kOpen);
  test.add(0.2);
  EXPECT_EQ(test.verdict(), SignTest::Verdict::kPassed);
}

TEST(SignTest, GivesUpEarlyOnLosers) {
  SignTest test({});
  for (int i = 0; i < 8; ++i) test.add(i < 3 ? 0.2 : -0.2);
  EXPECT_EQ(test.verdict(), SignTest::Verdict::kFailed);
}

TEST(Estimate, IntervalCoversTheTruth) {
  Random random(99);
  int covered = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> d;
    for (int i = 0; i < 12; ++i) d.push_back(noisy_pair(random, 0.02));
    const Gain g = estimate(d);
    EXPECT_LE(g.lo, g.log);
    EXPECT_LE(g.log, g.hi);
    covered += g.lo <= 0.02 && 0.02 <= g.hi;
  }
  EXPECT_GT(covered, 1900);
}

TEST(Estimate, FewPairsGiveTheirRange) {
  const Gain g = estimate({0.3, 0.1, 0.2});
  EXPECT_DOUBLE_EQ(g.lo, 0.1);
  EXPECT_DOUBLE_EQ(g.log, 0.2);
  EXPECT_DOUBLE_EQ(g.hi, 0.3);
}

TEST(Contradicts, OnlyWhatTheIntervalExcludes) {
  EXPECT_FALSE(contradicts(0.05, {0.04, 0.02, 0.06, 8}));
  EXPECT_FALSE(contradicts(0.002, {-0.001, -0.01, 0.01, 8}));  // too small to see
  EXPECT_TRUE(contradicts(0.05, {0.01, 0.0, 0.02, 8}));        // under half of the promise
  EXPECT_TRUE(contradicts(0.001, {-0.03, -0.04, -0.01, 8}));   // slower
}

}  // namespace
}  // namespace amdahl
