#include "tuner/search/campaign.h"

#include <algorithm>
#include <cmath>

#include "tuner/search/verdict.h"
#include "tuner/search/window_task.h"

namespace amdahl {
namespace {

constexpr double kFaster = 0.005;   // log ratio by which a form must beat the draft: under the noise of a race, but no tie
constexpr double kHopeless = 0.35;  // a first form this much slower is no place to start a search from

}  // namespace

Campaign::Campaign(const Graph& graph, const Plan& head, const Opportunity& target, double model_seconds)
    : target_(target),
      task_(window_task(graph, head, target.signature, target.windows[0])),
      incumbent_(candidate_id(task_.incumbent)),
      share_(target.seconds / std::max(model_seconds, 1e-12)),
      draft_(graph, head, target.windows[0]) {}

std::vector<Opportunity> Campaign::offers(const std::vector<const Rewrite*>& rewrites, const Target& target) const {
  std::vector<Opportunity> offers;
  const double won = target_.seconds * -std::expm1(-std::max(0.0, draft_ratio_));  // by the draft already
  for (Opportunity& o : draft_.offers(rewrites, target)) {
    if (fruitless_.count(std::string(o.rewrite->name()))) continue;
    o.signature = target_.signature;  // experience with a rewrite is kept by campaign
    o.seconds = target_.seconds - won;
    o.weight = target_.weight;
    o.winnable_seconds = std::max(0.0, target_.winnable_seconds - won);
    offers.push_back(std::move(o));
  }
  return offers;
}

// A fusion is not judged by its first form: the best of a first batch is the draft even when it loses.
double Campaign::bar_for(const Rewrite& rewrite) const {
  const bool any_form = rewrite.structural() && draft_ratio_ == 0 && !best_;
  return any_form ? -kHopeless : next_bar();
}

double Campaign::next_bar() const { return draft_ratio_ + kFaster; }
double Campaign::bar_for_proof(double delta) const { return std::max(delta, best_ ? best_ratio() + kFaster : 0.0); }

void Campaign::lead(const Experiment& e, const Proposal& form, const BuildResult& built, bool sets_pace) {
  draft_ratio_ = e.race_log_ratio;
  if (sets_pace) pace_ratio_ = draft_ratio_;
  if (won_its_race(e)) best_ = Best{e, form, built};
}

void Campaign::assume(const std::vector<Step>& form) {
  draft_.assume(form);
  fruitless_.clear();
}

}  // namespace amdahl
