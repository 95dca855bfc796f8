#include "tuner/search/prospects.h"

#include <algorithm>

#include "tuner/search/seeds.h"

namespace amdahl {

void Prospects::forget_if_outdated() {
  if (revision_ == profile_.revision()) return;
  revision_ = profile_.revision();
  offers_.clear();
  exhausted_.clear();
}

const std::vector<Opportunity>& Prospects::offers() {
  forget_if_outdated();
  if (offers_.empty()) offers_ = find_opportunities(context_.graph, state_.head(), profile_.get(), rewrites_.list(), context_.runner.target());
  return offers_;
}

void Prospects::exhaust(const Rewrite& rewrite, const std::string& signature) {
  forget_if_outdated();
  exhausted_.insert({std::string(rewrite.name()), signature});
}

Scheduler Prospects::scheduler() const {
  const TuneOptions& options = context_.options;
  Scheduler s(context_.policy, {.batch = options.batch, .patience = options.patience, .backend = context_.runner.target().backend});
  for (const auto& [id, e] : state_.experiments()) s.observe(e);
  return s;
}

std::optional<Choice> Prospects::choose_beside(const Opportunity* taken) {
  const std::vector<Opportunity>& all = offers();
  Scheduler s = scheduler();
  for (const auto& [rewrite, sign] : exhausted_) s.exclude(rewrite, sign);
  if (taken) s.exclude(std::string(taken->rewrite->name()), taken->signature);
  Random random = random_for(context_.options, state_.next_experiment(), 0xc4005e);
  return s.choose(all, profile_.seconds(), random);
}

std::optional<Inside> Prospects::choose_inside(const Campaign& campaign) const {
  const std::vector<Opportunity> offers = campaign.offers(rewrites_.list(), context_.runner.target());
  Random random = random_for(context_.options, state_.next_experiment(), 0x1d51de);
  const std::optional<Choice> choice = scheduler().choose(offers, profile_.seconds(), random);
  if (!choice) return std::nullopt;
  return Inside{offers[choice->opportunity], choice->rate(), choice->why};
}

bool Prospects::are_ruled_out_by_profile() {
  const auto tried = [&](const Opportunity& o) {
    const auto& all = state_.experiments();
    return std::any_of(all.begin(), all.end(),
                       [&](const auto& numbered) { return numbered.second.signature == o.signature && numbered.second.rewrite == o.rewrite->name(); });
  };
  const std::vector<Opportunity>& all = offers();
  return std::any_of(all.begin(), all.end(), [&](const Opportunity& o) { return !is_exhausted(o) && !tried(o); });
}

}  // namespace amdahl
