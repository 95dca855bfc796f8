#include "tuner/search/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/statistics.h"

namespace amdahl {

std::string nothing_to_judge(double judged) {
  return fmt::format("{:.0f}% of the model's outputs are no numbers in float64 on the inputs that are drawn: nothing can be judged on them",
                     100 * (1 - judged));
}

// Inputs that no gate has had before: what a plan gives for them is known to nobody.
std::optional<LedgerEntry> Gate::judge(const Plan& before, const Plan& after, double predicted, Random& random, const std::function<bool()>& give_up) {
  LedgerEntry entry;
  entry.predicted = predicted;
  Draw inputs;
  inputs.seed = random.next() >> 1;
  ModelCheck start = runner_.check_model(plain_, inputs);
  if (!start.failure && start.judged < kFewestJudged) {
    inputs.distribution = Distribution::kUniform;  // all positive: there are logarithms and roots of them
    start = runner_.check_model(plain_, inputs);
  }
  if (start.failure) throw Error(exit_code(*start.failure, ExitCode::kInternal), "the starter plan fails on the whole model: " + start.failure->reason);
  if (start.judged < kFewestJudged) {
    entry.reason = nothing_to_judge(start.judged);
    return entry;
  }
  const ModelCheck check = runner_.check_model(after, inputs);
  if (check.failure) {
    entry.reason = check.failure->reason;
    return entry;
  }
  const double limit = options_.limit(start.error);
  entry.error = check.error;
  entry.error_ratio = check.error / std::max(start.error, options_.error_floor);
  if (check.error > limit) {
    entry.reason = fmt::format("outputs are {:.3g} from float64, the limit is {:.3g}", check.error, limit);
    return entry;
  }

  ModelTest test(predicted, options_.rule);
  std::vector<double> before_seconds, after_seconds;
  PairsMadeAgain made_again(options_.rule.min_pairs, options_.made_again_seconds);
  int pairs = 0;
  pair_seconds_ = 0;
  while (test.verdict() == ModelTest::Verdict::kOpen) {
    if (give_up()) return std::nullopt;
    const double begin = runner_.now();
    const PairTrial p = runner_.model_pair(before, after, inputs.distribution, random);
    const double seconds = runner_.now() - begin;  // some begin processes, some do not
    pair_seconds_ = (pair_seconds_ * pairs + seconds) / (pairs + 1);
    ++pairs;
    if (p.failure) {
      entry.reason = p.failure->reason;
      return entry;
    }
    if (made_again.again(p, seconds)) continue;
    test.add(p.pair.timing.log_ratio);
    before_seconds.push_back(p.pair.timing.seconds_a);
    after_seconds.push_back(p.pair.timing.seconds_b);
  }
  entry.measured = test.measured();
  entry.pairs_dropped = made_again.count();
  entry.before_seconds = median(before_seconds);
  entry.after_seconds = median(after_seconds);
  entry.kept = test.verdict() == ModelTest::Verdict::kArrived;
  entry.reason = fmt::format("{:+.2f}% measured [{:+.2f}, {:+.2f}], {:+.2f}% predicted", 100 * std::expm1(entry.measured.log),
                             100 * std::expm1(entry.measured.lo), 100 * std::expm1(entry.measured.hi), 100 * std::expm1(predicted));
  return entry;
}

}  // namespace amdahl
