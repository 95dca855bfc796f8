// Statistics on synthetic noise: no clock is read.

#include "tuner/measurement/decision.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "base/statistics.h"
#include "tuner/measurement/rule_power.h"

namespace amdahl {
namespace {

// A pair of fresh processes: true log gain, process offset of 1%, and now and then a neighbour's burst in either arm.
double noisy_pair(Random& random, double gain) {
  double d = gain + 0.014 * random.normal();
  if (random.below(12) == 0) d += (random.below(2) ? 0.06 : -0.06) * random.uniform();
  return d;
}

struct Decided {
  bool kept = false;
  int pairs = 0;
  Gain gain;
};

Decided decide(Random& random, double gain, const DecisionRule& rule) {
  Decided t;
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
    const Decided t = decide(random, gain, {});
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

// The noise model of the validation contract: segments of a 2 ms kernel under slow drift (AR(1), sd 1.5%, 5 s), a neighbour's
// bursts (+8%), spikes, and an offset of every process (sd 0.7%). A build adds its layout.
class NoisyMachine {
 public:
  NoisyMachine(uint64_t seed, double layout_sd) : random_(seed), layout_sd_(layout_sd) {}

  double build() { return layout_sd_ * random_.normal(); }
  // Log ratio of a pair of fresh processes; `gain` and the layouts are log times.
  double pair(double layout_a, double layout_b, double gain) {
    const double a = layout_a + 0.007 * random_.normal(), b = layout_b + 0.007 * random_.normal() - gain;
    pass(0.3);  // starting them
    std::vector<double> times_a, times_b;
    for (int block = 0; block < 10; ++block) {
      const bool first = random_.below(2) == 0;
      for (bool is_a : {first, !first, !first, first}) (is_a ? times_a : times_b).push_back((is_a ? a : b) + segment());
    }
    return median(times_a) - median(times_b);
  }

 private:
  double segment() {
    pass(0.01);
    return drift_ + (burst_ > 0 ? 0.08 : 0) + 0.003 * random_.normal() + (random_.below(50) ? 0 : 0.3 * random_.uniform());
  }
  void pass(double seconds) {
    const double keep = std::exp(-seconds / 5);
    drift_ = keep * drift_ + 0.015 * std::sqrt(1 - keep * keep) * random_.normal();
    burst_ -= seconds;
    if (burst_ <= 0 && random_.uniform() < seconds / 2) burst_ = 0.3 * random_.uniform();  // one every two seconds
  }

  Random random_;
  double layout_sd_, drift_ = 0, burst_ = 0;
};

// Both stages, each with builds of its own.
Decided whole_rule(NoisyMachine& machine, Random& random, double gain, const DecisionRule& rule) {
  Decided t;
  for (int stage = 0; stage < 2; ++stage) {
    std::vector<double> a, b, d;
    for (int i = 0; i < std::max(1, rule.builds); ++i) {
      a.push_back(machine.build());
      b.push_back(machine.build());
    }
    SignTest test(rule);
    while (test.verdict() == SignTest::Verdict::kOpen) {
      d.push_back(machine.pair(a[random.below(a.size())], b[random.below(b.size())], gain));
      test.add(d.back());
    }
    t.pairs += test.pairs();
    if (test.verdict() == SignTest::Verdict::kFailed) return t;
    t.gain = estimate(d);
  }
  t.kept = true;
  return t;
}

struct Rates {
  int kept = 0;
  double mean_gain = 0, mean_pairs = 0;
};
Rates rates(double gain, double layout_sd, double delta, int builds, int trials) {
  NoisyMachine machine(31, layout_sd);
  Random random(41);
  DecisionRule rule;
  rule.delta = delta;
  rule.builds = builds;
  Rates r;
  for (int i = 0; i < trials; ++i) {
    const Decided t = whole_rule(machine, random, gain, rule);
    r.kept += t.kept;
    r.mean_gain += t.kept ? t.gain.log : 0;
    r.mean_pairs += static_cast<double>(t.pairs) / trials;
  }
  if (r.kept) r.mean_gain /= r.kept;
  return r;
}

TEST(WholeRule, KeepsNoBuildOfTheSameCode) {
  EXPECT_EQ(rates(0, 0, 0.005, 8, 1500).kept, 0);     // A/A
  EXPECT_LE(rates(0, 0.007, 0.005, 8, 500).kept, 1);  // placebo builds
  EXPECT_LE(rates(0, 0.015, 0.01, 8, 500).kept, 1);
}

TEST(WholeRule, OneBuildIsNotEnough) {
  // What the placebo builds are for: the same code placed luckily is "proven" when it is built once.
  EXPECT_GT(rates(0, 0.007, 0.005, 0, 500).kept, 5);
  EXPECT_GT(rates(0, 0.015, 0.01, 0, 500).kept, 5);
}

TEST(WholeRule, FindsThreePercent) {
  const Rates three = rates(0.03, 0.007, 0.01, 8, 300);
  EXPECT_GE(three.kept, 285);  // 95%
  EXPECT_NEAR(three.mean_gain, 0.03, 0.003);
  EXPECT_LT(three.mean_pairs, 40);
  const Rates five = rates(0.05, 0.007, 0.01, 8, 300);
  EXPECT_GE(five.kept, 297);
  EXPECT_NEAR(five.mean_gain, 0.05, 0.003);
}

TEST(WholeRule, ALoserCostsFewPairs) { EXPECT_LT(rates(-0.03, 0.007, 0.01, 8, 300).mean_pairs, 6); }

TEST(Power, IsThatOfTheRule) {
  PairNoise noise;
  Random random(5);
  for (int i = 0; i < 400; ++i) noise.residuals.push_back(0.012 * random.normal());
  DecisionRule rule;
  EXPECT_EQ(power_at(rule, noise, 0, 2000, random).kept, 0);
  const double least = smallest_gain(rule, noise, 0.95, 1);
  EXPECT_GT(least, rule.delta);
  EXPECT_LT(least, 0.05);
  Random fresh(77);
  EXPECT_GT(power_at(rule, noise, least, 2000, fresh).kept, 0.93);
  EXPECT_LT(power_at(rule, noise, least - 0.003, 2000, fresh).kept, 0.95);
  EXPECT_LT(smallest_gain(rule, noise, 0.2, 1), least);
  noise.layout_sd = 0.015;
  EXPECT_GT(smallest_gain(rule, noise, 0.95, 1), least);
  for (double& r : noise.residuals) r *= 100;
  EXPECT_DOUBLE_EQ(smallest_gain(rule, noise, 0.95, 1), kLargestGain);
}

TEST(ModelTest, StopsAtOnceWhenTheModelIsSlower) {
  ModelTest test(0.05, {});
  int pairs = 0;
  for (; test.verdict() == ModelTest::Verdict::kOpen; ++pairs) test.add(-0.05);
  EXPECT_EQ(test.verdict(), ModelTest::Verdict::kContradicted);
  EXPECT_LT(pairs, GateRule{}.max_pairs);
}

TEST(SignTest, SaysHowManyPairsAreLeft) {
  const DecisionRule rule;
  EXPECT_NEAR(SignTest(rule, {0.1, 0.1, 0.1, 0.1, 0.1, 0.1}).pairs_left(), 4, 2);
  for (const std::vector<double>& pattern : {std::vector<double>{0.1}, {0.1, 0.1, 0.1, 0}, {0.1, 0.1, 0.1, 0.1, 0}}) {
    SignTest test(rule);
    const auto next = [&] { test.add(pattern[static_cast<size_t>(test.pairs()) % pattern.size()]); };
    for (int i = 0; i < 6; ++i) next();
    const double left = test.pairs_left();
    const int before = test.pairs();
    while (test.verdict() == SignTest::Verdict::kOpen) next();
    EXPECT_EQ(test.verdict(), SignTest::Verdict::kPassed);
    EXPECT_NEAR(left, test.pairs() - before, 0.6 * (test.pairs() - before) + 1) << pattern.size();
  }
  EXPECT_EQ(SignTest(rule, {0.1, 0, 0.1, 0, 0.1, 0}).pairs_left(), rule.max_pairs - 6) << "never, as it goes";
  EXPECT_EQ(SignTest(rule, {0.1, 0, 0.1, 0, 0.1, 0}).pairs_of_a_stage(), rule.max_pairs);
}

TEST(ModelTest, AWinThatIsTooSmallToSeeArrives) {
  ModelTest test(0.002, {});
  for (int i = 0; test.verdict() == ModelTest::Verdict::kOpen; ++i) test.add(i % 2 ? 0.008 : -0.009);
  EXPECT_EQ(test.verdict(), ModelTest::Verdict::kArrived);
  EXPECT_EQ(test.measured().pairs, GateRule{}.max_pairs);
}

TEST(ModelTest, ErrsRarely) {
  Random random(12);
  const auto contradicted = [&](double promised, double truth) {
    int n = 0;
    for (int trial = 0; trial < 500; ++trial) {
      ModelTest test(promised, {});
      while (test.verdict() == ModelTest::Verdict::kOpen) test.add(noisy_pair(random, truth));
      n += test.verdict() == ModelTest::Verdict::kContradicted;
    }
    return n;
  };
  EXPECT_LT(contradicted(0.05, 0.05), 15);     // it arrives
  EXPECT_LT(contradicted(0.003, 0.003), 25);   // it arrives, unseen
  EXPECT_GT(contradicted(0.05, 0), 450);       // it does not
  EXPECT_GT(contradicted(0.003, -0.03), 450);  // it harms
}

TEST(Contradicts, OnlyWhatTheIntervalExcludes) {
  EXPECT_FALSE(contradicts(0.05, {0.04, 0.02, 0.06, 8}));
  EXPECT_FALSE(contradicts(0.002, {-0.001, -0.01, 0.01, 8}));  // too small to see
  EXPECT_TRUE(contradicts(0.05, {0.01, 0.0, 0.02, 8}));        // under half of the promise, and perhaps nothing
  EXPECT_FALSE(contradicts(0.05, {0.01, 0.005, 0.02, 8}));     // under half of it, but certainly something
  EXPECT_TRUE(contradicts(0.001, {-0.03, -0.04, -0.01, 8}));   // slower
}

// A tenth faster in seven processes of eight, four times slower in the eighth.
TEST(LosesInSum, WhatIsMostlyFasterAndSometimesFarSlowerDoes) {
  std::vector<double> ratios;
  for (int pair = 0; pair < 16; ++pair) ratios.push_back(pair % 8 == 7 ? -std::log(4) : 0.1);
  EXPECT_GT(median(ratios), 0.05);
  EXPECT_TRUE(loses_in_sum(ratios));
}

TEST(LosesInSum, OneAccidentDoesNotOutweighAGain) {
  std::vector<double> ratios(18, 0.1);
  ratios[4] = -std::log(30);
  EXPECT_FALSE(loses_in_sum(ratios));
  EXPECT_FALSE(loses_in_sum({}));
}

}  // namespace
}  // namespace amdahl
