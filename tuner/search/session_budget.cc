#include "tuner/search/session_budget.h"

#include <algorithm>

#include "tuner/search/headline.h"
#include "tuner/search/trial_costs.h"

namespace amdahl {

bool SessionBudget::out_of_experiments() const { return options_.experiments > 0 && static_cast<int64_t>(state_.experiments().size()) >= options_.experiments; }

double SessionBudget::seconds_left(double without_limit) const { return has_limit() ? std::max(0.0, options_.seconds - state_.spent()) : without_limit; }

int64_t SessionBudget::experiments_left(int64_t without_limit) const {
  if (options_.experiments <= 0) return without_limit;
  return std::max<int64_t>(0, options_.experiments - static_cast<int64_t>(state_.experiments().size()));
}

bool SessionBudget::has_time_for(double seconds) const { return !has_limit() || state_.spent() + closing_seconds() + seconds <= options_.seconds; }

bool SessionBudget::must_prove_now(double run_seconds) const {
  return has_limit() && state_.spent() + closing_seconds(/*one_more=*/true) + 1.25 * cost_of_proof(run_seconds) > options_.seconds;
}

double SessionBudget::closing_seconds(bool one_more) const {
  const bool gate_comes = one_more || !state_.pending().empty();
  if (!gate_comes && !state_.has_kept()) return 0;
  double sum = gate_comes ? state_.costs().gate : 0;
  for (const PendingWin& p : state_.pending())
    if (!p.confirmed) sum += 1.5 * state_.experiment(p.experiment).seconds.prove + 2;
  return sum + (graph_.buckets.empty() ? state_.costs().profile : 0) + headline_seconds();
}

double SessionBudget::headline_seconds() const {
  const double pair = state_.costs().model_pair;
  const int shapes_profiled = graph_.buckets.empty() ? 0 : kHeadlineProfiles;
  const double headline = (headline_pairs(options_.seconds, pair) + 0.5 * shapes_profiled) * pair;
  // A run that was given little time searches all the same: its headline runs over.
  const double most = has_limit() ? 0.3 * std::max(0.0, options_.seconds - state_.earlier_seconds()) : headline;
  return std::min(headline, most);
}

double SessionBudget::latest_confirmation() const {
  const bool gate_comes = state_.confirmed() > 0;
  if (!state_.has_kept() && !gate_comes) return latest_end();
  return std::min(latest_end(), latest_headline(options_.seconds) - fewest_headline_seconds() - (gate_comes ? state_.costs().gate : 0));
}

double SessionBudget::latest_gate() const {
  return state_.has_kept() ? std::min(latest_end(), latest_headline(options_.seconds) - fewest_headline_seconds()) : latest_end();
}

double SessionBudget::fewest_headline_seconds() const { return kFewestHeadlinePairs * state_.costs().model_pair; }

}  // namespace amdahl
