#include "tuner/search/revert_newest_keep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace amdahl {

bool revert_newest_keep(SessionStore& store, const Gain& headline) {
  const std::vector<LedgerEntry> ledger = store.ledger();
  const auto newest = std::find_if(ledger.rbegin(), ledger.rend(), [](const LedgerEntry& e) { return e.kept; });
  if (newest == ledger.rend()) return false;
  std::map<int64_t, Experiment> experiments;
  for (Experiment& e : store.experiments()) experiments[e.id] = std::move(e);
  std::map<int64_t, PlanRecord> plans;
  for (PlanRecord& p : store.plans()) plans[p.id] = std::move(p);

  Commit c;
  LedgerEntry entry = *newest;
  entry.kept = false;
  entry.reason += fmt::format("; taken back: in the end the kept plan ran at {:.2f}x of the starter", std::exp(headline.log));
  c.ledger = {entry};
  const auto end = [&](int64_t id, Outcome outcome, std::string reason) {
    Experiment e = experiments.at(id);
    e.outcome = outcome;
    e.stage = "gate";
    e.reason = std::move(reason);
    c.experiments.push_back(std::move(e));
  };
  const auto drop = [&](int64_t id) {
    PlanRecord p = plans.at(id);
    p.gated = false;
    p.rolled_back = true;
    c.plans.push_back(std::move(p));
  };
  for (int64_t id : entry.experiments) end(id, Outcome::kReverted, "the headline contradicts it: the kept plan was slower than the starter");
  drop(entry.plan_after);
  Json state = store.state();
  for (const Json& waiting : state.at("pending")) {
    end(waiting.at("experiment"), Outcome::kInconclusive, fmt::format("rolled back with experiment {}", entry.experiments.back()));
    drop(waiting.at("plan"));
  }
  state["pending"] = Json::array();
  state["gated"] = state["head"] = entry.plan_before;
  state["proven_log"] = state.at("proven_log").get<double>() - entry.measured.log;
  c.state = state;
  // An older headline speaks of a plan that is kept no more.
  if (store.headline()) c.headline = Headline{entry.plan_before, {}, 0, 0, 0};
  store.commit(c);
  return true;
}

}  // namespace amdahl
