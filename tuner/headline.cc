#include "tuner/headline.h"

#include <algorithm>

#include "base/error.h"
#include "tuner/decision.h"

namespace amdahl {

int headline_pairs(double budget_seconds, double pair_seconds) {
  if (budget_seconds <= 0) return kHeadlinePairs;
  return std::clamp(static_cast<int>(0.1 * budget_seconds / std::max(pair_seconds, 1e-3)), kFewestHeadlinePairs, kHeadlinePairs);
}

Headline measure_headline(Laboratory& laboratory, const Plan& starter, const Plan& kept, int64_t kept_id, int pairs,
                          Random& random, const std::function<bool()>& out_of_time, double made_again_seconds) {
  Headline h;
  h.plan = kept_id;
  std::vector<double> ratios, starter_seconds, kept_seconds;
  PairsMadeAgain made_again(pairs, made_again_seconds);
  while (static_cast<int>(ratios.size()) < pairs) {
    if (static_cast<int>(ratios.size()) >= kFewestHeadlinePairs && out_of_time()) break;
    const double start = laboratory.now();
    const Paired p = laboratory.model_pair(starter, kept, random);
    if (p.failure)
      throw Error(p.failure->code == "killed" ? ExitCode::kIo : ExitCode::kNotVerified, "the kept plan fails on the whole model: " + p.failure->reason);
    if (made_again.again(p, laboratory.now() - start)) continue;
    ratios.push_back(p.pair.timing.log_ratio);
    starter_seconds.push_back(p.pair.timing.seconds_a);
    kept_seconds.push_back(p.pair.timing.seconds_b);
  }
  h.gain = estimate(ratios);
  h.pairs_dropped = made_again.count();
  h.starter_seconds = median(starter_seconds);
  h.kept_seconds = median(kept_seconds);
  return h;
}

}  // namespace amdahl
