#include "tuner/search/headline.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/statistics.h"
#include "tuner/measurement/decision.h"

namespace amdahl {

int headline_pairs(double budget_seconds, double pair_seconds) {
  if (budget_seconds <= 0) return kHeadlinePairs;
  return std::clamp(static_cast<int>(0.1 * budget_seconds / std::max(pair_seconds, 1e-3)), kFewestHeadlinePairs, kHeadlinePairs);
}

std::vector<Distribution> headline_inputs(const Graph& graph) {
  const bool floats = std::any_of(graph.inputs.begin(), graph.inputs.end(), [&](ValueId v) { return is_float(graph.value(v).dtype); });
  if (!floats) return {Distribution::kNormal};
  return {Distribution::kNormal, Distribution::kUniform, Distribution::kNeedle};
}

Headline measure_headline(TrialRunner& runner, const Plan& starter, const Plan& kept, const HeadlineOptions& options) {
  Headline h;
  h.plan = options.plan;
  h.seed = options.seed;
  for (Distribution family : options.inputs) h.inputs.emplace_back(name_of(family));
  Random random(options.seed);
  std::vector<double> ratios, starter_seconds, kept_seconds;
  PairsMadeAgain made_again(options.pairs, options.made_again_seconds);
  double longest = 0, worked_starter = 0, worked_kept = 0;
  const auto another = [&] {
    const int pairs = static_cast<int>(ratios.size());
    if (options.must_stop()) return false;
    if (pairs >= options.pairs) return pairs < kMostHeadlinePairs && options.time_for_another(longest);
    return pairs < kFewestHeadlinePairs || !options.out_of_time();
  };
  while (another()) {
    const double start = runner.now();
    const PairTrial p = runner.model_pair(starter, kept, options.inputs[ratios.size() % options.inputs.size()], random);
    if (p.failure) throw Error(exit_code(*p.failure, ExitCode::kNotVerified), "the kept plan fails on the whole model: " + p.failure->reason);
    longest = std::max(longest, runner.now() - start);
    if (made_again.again(p, runner.now() - start)) continue;
    ratios.push_back(p.pair.timing.log_ratio);
    starter_seconds.push_back(p.pair.timing.seconds_a);
    kept_seconds.push_back(p.pair.timing.seconds_b);
    worked_starter += p.pair.timing.worked_a;
    worked_kept += p.pair.timing.worked_b;
  }
  h.gain = estimate(ratios);
  // A plan of which single runs take far longer is as slow as its mean.
  if (works_more(worked_starter, worked_kept) && h.gain.log > 0) h.gain.log = h.gain.lo = h.gain.hi = std::log(worked_starter / worked_kept);
  h.pairs_dropped = made_again.count();
  h.starter_seconds = median(starter_seconds);
  h.kept_seconds = median(kept_seconds);
  return h;
}

}  // namespace amdahl
