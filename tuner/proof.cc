#include "tuner/proof.h"

namespace amdahl {

constexpr int kImpossible = 3;  // pairs with a time below the floor that end a proof

Evidence gather_evidence(Laboratory& laboratory, const DecisionRule& rule, const std::vector<Step>& challenger, const Built& built,
                         int first_build, Random& random, const std::function<bool(const std::vector<double>&)>& give_up,
                         const std::vector<double>& earlier) {
  Evidence evidence;
  evidence.log_ratios = earlier;
  const auto broken = [&](Failure failure) {
    evidence.end = Evidence::End::kBroken;
    evidence.failure = std::move(failure);
    return evidence;
  };
  Placebos placebos;
  if (rule.builds > 0) placebos = laboratory.placebos(challenger, first_build, rule.builds);
  if (!placebos.message.empty())
    return broken({Outcome::kBuildFailed, "build-failed", "build", "a placebo build failed: " + placebos.message, 0});

  SignTest test(rule, earlier);
  std::vector<double> incumbent, challenger_seconds;
  int impossible = 0;
  while (test.verdict() == SignTest::Verdict::kOpen) {
    if (give_up(evidence.log_ratios)) return evidence;
    const Paired paired = laboratory.pair(challenger, built, placebos, random);
    if (paired.failure) return broken(*paired.failure);
    const Timing& timing = paired.pair.timing;
    // One may be the clock's: an interrupt during the hand-over that is subtracted. It never counts for the challenger, but may against it.
    if (!paired.below_floor.empty()) {
      if (++impossible == kImpossible) return broken({Outcome::kMistrusted, "below-floor", "prove", paired.below_floor, 0});
      if (timing.log_ratio > 0) {
        evidence.dropped.push_back(timing.log_ratio);
        continue;
      }
    }
    // A machine that is never quiet must not keep us for ever: then pairs are taken as they come.
    if (!paired.pair.dropped.empty() && static_cast<int>(evidence.dropped.size()) < 4 + test.pairs()) {
      evidence.dropped.push_back(timing.log_ratio);
      continue;
    }
    evidence.log_ratios.push_back(timing.log_ratio);
    incumbent.push_back(timing.seconds_a);
    challenger_seconds.push_back(timing.seconds_b);
    test.add(timing.log_ratio);
  }
  evidence.incumbent_seconds = median(incumbent);
  evidence.challenger_seconds = median(challenger_seconds);
  evidence.end = test.verdict() == SignTest::Verdict::kPassed ? Evidence::End::kPassed : Evidence::End::kFailed;
  return evidence;
}

}  // namespace amdahl
