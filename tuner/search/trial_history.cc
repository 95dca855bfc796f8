#include "tuner/search/trial_history.h"

#include <algorithm>

#include "tuner/search/verdict.h"
#include "tuner/search/window_task.h"

namespace amdahl {

bool was_tried(const SessionState& state, const Opportunity& o, const std::string& candidate) {
  if (candidate == candidate_id(steps_of(state.head(), o.windows[0]))) return true;
  const auto& all = state.experiments();
  return std::any_of(all.begin(), all.end(), [&](const auto& numbered) {
    const Experiment& e = numbered.second;
    return e.signature == o.signature && (e.candidate == candidate || e.incumbent == candidate) && !may_return(e);
  });
}

std::set<std::string> tried_on(const SessionState& state, const std::string& signature) {
  std::set<std::string> tried;
  for (const auto& [id, e] : state.experiments())
    if (e.signature == signature && !may_return(e)) tried.insert(e.candidate);
  return tried;
}

std::vector<Proposal> unproven_form(const Graph& graph, const SessionState& state, const Campaign& campaign) {
  const Window& window = campaign.target().windows[0];
  const Experiment* fastest = nullptr;
  for (const auto& [id, e] : state.experiments()) {
    if (e.signature != campaign.target().signature || e.incumbent != campaign.incumbent()) continue;
    const bool open = won_its_race(e) || may_return(e);
    const bool proved = !open && (e.stage == "prove" || e.stage == "proven" || e.stage == "confirm" || e.stage == "gate");
    if (!proved && !(open && e.steps == window.steps)) continue;
    if (!fastest || e.race_log_ratio > fastest->race_log_ratio) fastest = &e;
  }
  if (!fastest || !(won_its_race(*fastest) || may_return(*fastest))) return {};
  return {as_tried(graph, state, *fastest, window)};
}

Proposal as_tried(const Graph& graph, const SessionState& state, const Experiment& e, const Window& window) {
  const std::vector<Step> local = localized(graph, state.plan(e.plan), {e.steps}, e.replacement.get<std::vector<Step>>());
  return {placed(graph, state.head(), window, local), e.knobs.get<Knobs>(), e.candidate};
}

const Experiment* taken_up_again(const SessionState& state, const std::string& signature, const std::string& candidate) {
  const Experiment* last = nullptr;
  for (const auto& [id, e] : state.experiments())
    if (e.signature == signature && e.candidate == candidate && (won_its_race(e) || may_return(e))) last = &e;
  return last;
}

}  // namespace amdahl
