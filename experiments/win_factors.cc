#include "experiments/win_factors.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/statistics.h"
#include "plan/algorithm.h"

namespace amdahl {
namespace {

// The best that is known of an experiment that was timed against its incumbent.
double log_ratio_of(const Experiment& e) {
  if (e.gain.pairs > 0) return e.gain.log;
  return e.prove_log_ratios.empty() ? e.race_log_ratio : median(e.prove_log_ratios);
}

bool was_timed(const Experiment& e) { return e.outcome <= Outcome::kInconclusive && e.incumbent_seconds > 0 && e.challenger_seconds > 0; }

std::string algorithm_of_replacement(const Experiment& e) { return e.replacement.is_array() ? algorithm_of(e.replacement.get<std::vector<Step>>()) : ""; }

std::string algorithm_of_incumbent(const Experiment& e, const std::map<int64_t, Plan>& plans) {
  const auto plan = plans.find(e.plan);
  if (plan == plans.end()) return "";
  std::vector<Step> steps;
  for (int step : e.steps) steps.push_back(plan->second.steps.at(static_cast<size_t>(step)));
  return algorithm_of(steps);
}

// Of the win, its blocks on the algorithm that it replaced. A form that lost is no gain of blocking: the incumbent itself was there.
WinFactors factors_of(const Experiment& win, const std::string& incumbent_algorithm, const std::vector<Experiment>& experiments) {
  WinFactors factors;
  for (const Experiment& e : experiments) {
    if (e.signature != win.signature || e.incumbent != win.incumbent || !was_timed(e) || algorithm_of_replacement(e) != incumbent_algorithm) continue;
    if (factors.best_blocks != 0 && log_ratio_of(e) <= factors.blocking) continue;
    factors.blocking = std::max(0.0, log_ratio_of(e));
    factors.best_blocks = e.id;
  }
  factors.algorithm = win.gain.log - factors.blocking;
  return factors;
}

}  // namespace

std::map<int64_t, WinFactors> win_factors(const SessionStore& store) {
  const std::vector<Experiment> experiments = store.experiments();
  std::map<int64_t, Plan> plans;
  for (const PlanRecord& record : store.plans()) {
    const bool wanted =
        std::any_of(experiments.begin(), experiments.end(), [&](const Experiment& e) { return e.outcome == Outcome::kKept && e.plan == record.id; });
    if (wanted) plans[record.id] = record.plan.get<Plan>();
  }
  std::map<int64_t, WinFactors> factors;
  for (const Experiment& e : experiments) {
    if (e.outcome != Outcome::kKept || e.gain.pairs == 0) continue;
    const std::string before = algorithm_of_incumbent(e, plans), after = algorithm_of_replacement(e);
    if (before.empty() || after.empty() || before == after) continue;
    factors[e.id] = factors_of(e, before, experiments);
  }
  return factors;
}

}  // namespace amdahl
