#include "tuner/search/proof.h"

#include "base/statistics.h"
#include "tuner/measurement/dropped_pairs.h"

namespace amdahl {
namespace {

constexpr int kImpossible = 3;  // pairs with a time below the floor that end a proof

// The pairs of one stage, as they come.
class Stage {
 public:
  Stage(const DecisionRule& rule, const std::vector<double>& earlier) : rule_(rule), test_(rule, earlier), counted_(earlier) {}

  // Decided, with every loss counted that no win was dropped for.
  bool decided() {
    while (test_.verdict() != SignTest::Verdict::kOpen) {
      if (!dropped_.owes()) return true;
      count_what_is_owed();
    }
    return false;
  }

  void add(const PairTrial& paired) {
    const double log_ratio = paired.pair.timing.log_ratio;
    // One may be the clock's: an interrupt during the hand-over that is subtracted. It never counts for the challenger, but may against it.
    if (!paired.below_floor.empty()) {
      ++impossible_;
      if (log_ratio > 0) return below_floor_.push_back(log_ratio);
    }
    // A machine that is never quiet must not keep us for ever: then pairs are taken as they come.
    if (!paired.pair.dropped.empty() && dropped_.count() < 4 + test_.pairs()) return dropped_.add(log_ratio, log_ratio > rule_.delta);
    count(log_ratio);
    worked_incumbent_ += paired.pair.timing.worked_a;
    worked_challenger_ += paired.pair.timing.worked_b;
    incumbent_.push_back(paired.pair.timing.seconds_a);
    challenger_.push_back(paired.pair.timing.seconds_b);
  }

  const std::vector<double>& counted() const { return counted_; }
  bool is_impossible() const { return impossible_ >= kImpossible; }

  Evidence evidence(Evidence::End end) {
    count_what_is_owed();
    Evidence e;
    e.end = end;
    e.log_ratios = counted_;
    e.dropped = dropped_.log_ratios();
    e.dropped.insert(e.dropped.end(), below_floor_.begin(), below_floor_.end());
    e.incumbent_seconds = median(incumbent_);
    e.challenger_seconds = median(challenger_);
    e.worked_more = worked_more();
    return e;
  }
  Evidence::End end() const {
    const bool passed = test_.verdict() == SignTest::Verdict::kPassed && !loses_in_sum(counted_) && !worked_more();
    return passed ? Evidence::End::kPassed : Evidence::End::kFailed;
  }

 private:
  bool worked_more() const { return works_more(worked_incumbent_, worked_challenger_); }
  void count(double log_ratio) {
    counted_.push_back(log_ratio);
    test_.add(log_ratio);
  }
  void count_what_is_owed() {
    for (double owed : dropped_.take_owed()) count(owed);
  }

  const DecisionRule& rule_;
  SignTest test_;
  DroppedPairs dropped_;
  std::vector<double> counted_, below_floor_, incumbent_, challenger_;
  double worked_incumbent_ = 0, worked_challenger_ = 0;
  int impossible_ = 0;
};

}  // namespace

Evidence gather_evidence(TrialRunner& runner, const DecisionRule& rule, const std::vector<Step>& challenger, const BuildResult& built, int first_build,
                         Random& random, const std::function<bool(const std::vector<double>&)>& give_up, const std::vector<double>& earlier) {
  Stage stage(rule, earlier);
  const auto broken = [&](Failure failure) {
    Evidence evidence = stage.evidence(Evidence::End::kBroken);
    evidence.failure = std::move(failure);
    return evidence;
  };
  Placebos placebos;
  if (rule.builds > 0) placebos = runner.placebos(challenger, first_build, rule.builds);
  if (!placebos.message.empty()) return broken({Outcome::kBuildFailed, "build-failed", "build", "a placebo build failed: " + placebos.message, 0});
  while (!stage.decided()) {
    if (give_up(stage.counted())) return stage.evidence(Evidence::End::kUnfinished);
    const PairTrial paired = runner.pair(challenger, built, placebos, random);
    if (paired.failure) return broken(*paired.failure);
    stage.add(paired);
    if (stage.is_impossible()) return broken({Outcome::kMistrusted, "below-floor", "prove", paired.below_floor, 0});
  }
  return stage.evidence(stage.end());
}

}  // namespace amdahl
