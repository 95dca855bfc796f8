#include "tuner/search/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/counted.h"
#include "base/statistics.h"
#include "base/time_text.h"
#include "tuner/search/trial_costs.h"

namespace amdahl {
namespace {

// Before anything is known: the rewrite's own prior counts as four windows, a window costs two seconds.
constexpr double kPriorWindows = 4, kPriorSeconds = 2;
// So many experiments of a rewrite on one window that did not win halve the hope for it. So do this many of all rewrites
// together, fruitful or not: of 45 wins of six sessions 38 came within the first 11 experiments on their window and two by the 17th; five
// came later and brought 2 to 9%. Windows saw up to 94, while others that fusing makes two to four times as fast waited.
constexpr double kHalvingTries = 8, kHalvingOfAWindow = 12;

}  // namespace

void Scheduler::observe(const Experiment& e) {
  Record& r = rewrites_[e.rewrite];
  const bool proven = e.stage == "proven";  // applied, to be confirmed
  const bool won = proven || e.outcome == Outcome::kKept;
  const bool led = e.outcome == Outcome::kInconclusive && e.stage == "race";
  const auto [shown, is_new] = shown_.try_emplace({e.rewrite, e.signature}, 0);
  if (is_new) {
    for (double* faded : {&r.wins, &r.windows, &r.seconds}) *faded *= options_.fade;
    r.windows += 1;
  }
  const double credit = std::max(shown->second, won ? 1 : led ? 0.5 : 0);
  r.wins += credit - shown->second;
  shown->second = credit;
  r.seconds += std::max(0.0, e.seconds.build + e.seconds.validate + e.seconds.race - runs_of_candidate(e.incumbent_seconds));
  ++r.tries;
  tries_on_[e.signature] += share_of_campaign(e.incumbent_seconds);
  r.kept += e.outcome == Outcome::kKept;
  if (!won) ++fruitless_[{e.rewrite, e.signature}];
  if (!won) return;
  r.share_won += 1 - std::exp(-(proven ? median(e.prove_log_ratios) : e.gain.log));
  r.shares += 1;
}

// On a window of 0.2 s a whole campaign is five candidates; four of them say as much about it as sixteen do where candidates are cheap.
double Scheduler::share_of_campaign(double run_seconds) const {
  const int candidates = candidates_of_batch(run_seconds, options_.batch) * fruitless_batches(run_seconds, options_.batch, options_.patience);
  return static_cast<double>(options_.batch * options_.patience) / candidates;
}

void Scheduler::exclude(const std::string& rewrite, const std::string& signature) { excluded_[{rewrite, signature}] = true; }

const Scheduler::Record& Scheduler::record_of(const Opportunity& o) const {
  static const Record nothing;
  const auto known = rewrites_.find(std::string(o.rewrite->name()));
  return known == rewrites_.end() ? nothing : known->second;
}

std::optional<Offer> Scheduler::offer_of(const Opportunity& o, double model_seconds) const {
  const std::pair place{std::string(o.rewrite->name()), o.signature};
  if (excluded_.count(place)) return std::nullopt;
  Offer offer;
  const Odds odds = o.rewrite->odds(options_.backend);
  const Record& r = record_of(o);
  const auto stale = fruitless_.find(place);
  offer.tries = stale == fruitless_.end() ? 0 : stale->second;
  const double hope = std::pow(0.5, offer.tries / kHalvingTries);
  const auto tried = tries_on_.find(o.signature);
  const double window_hope = std::pow(0.5, (tried == tries_on_.end() ? 0 : tried->second) / kHalvingOfAWindow);
  offer.chance = (kPriorWindows * odds.chance + r.wins) / (kPriorWindows + r.windows) * hope * window_hope;
  // Wins so far took this share of the window's time; never more than is winnable.
  const double share = (odds.share + r.share_won) / (1 + r.shares);
  const double won_seconds = o.weight * std::min(o.winnable_seconds, o.seconds * share);
  offer.seconds = (kPriorSeconds * kPriorWindows + r.seconds) / (kPriorWindows + r.windows);
  // Proofs are charged by their chance to whoever may come to one, not to those that did: a rewrite that wins would look dear for it.
  const double run = o.seconds / static_cast<double>(o.windows.size());
  offer.seconds += candidates_of_batch(run, options_.batch) * runs_of_candidate(run) + offer.chance * cost_of_proof(run);
  offer.gain = -std::log(std::max(0.01, 1 - won_seconds / std::max(model_seconds, 1e-9)));
  if (offer.gain * hope < options_.smallest_gain) return std::nullopt;
  return offer;
}

std::optional<Choice> Scheduler::choose(const std::vector<Opportunity>& opportunities, double model_seconds, Random& random) const {
  std::vector<Offer> offers;
  std::set<int> taken_over;  // steps that an untried rewrite with kernels of its own would replace
  for (size_t i = 0; i < opportunities.size(); ++i) {
    const double luck = random.normal();  // drawn for what is excluded too: a resumed run excludes other things
    std::optional<Offer> offer = offer_of(opportunities[i], model_seconds);
    if (!offer) continue;
    offer->number = i;
    offer->luck = luck;
    offers.push_back(*offer);
    if (offer->tries == 0 && opportunities[i].rewrite->brings_kernels())
      for (const Window& w : opportunities[i].windows) taken_over.insert(w.steps.begin(), w.steps.end());
  }
  const auto waits = [&](const Opportunity& o) {
    const std::vector<int>& steps = o.windows[0].steps;
    return !o.rewrite->brings_kernels() && std::any_of(steps.begin(), steps.end(), [&](int s) { return taken_over.count(s) > 0; });
  };
  std::optional<Choice> best;
  double highest = 0;
  for (const Offer& offer : offers) {
    const Opportunity& o = opportunities[offer.number];
    if (waits(o)) continue;
    const double priority = policy_.priority(offer);
    if (best && priority <= highest) continue;
    highest = priority;
    const Record& r = record_of(o);
    const std::string why = fmt::format("{:.1f}% of the model, {} above its roofline in {}; {} won {} of {}", 100 * o.seconds / model_seconds,
                                        time_text(o.winnable_seconds), counted(o.windows.size(), "place"), o.rewrite->name(), r.kept, r.tries);
    best = Choice{offer.number, offer.gain * offer.chance, offer.seconds, why};
  }
  return best;
}

}  // namespace amdahl
