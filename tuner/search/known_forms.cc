#include "tuner/search/known_forms.h"

#include <algorithm>

#include "experiments/provenance.h"
#include "tuner/search/trial_history.h"

namespace amdahl {

std::optional<size_t> KnownForms::most_promising(Prospects& prospects, const SessionState& state, const AllowedRewrites& rewrites, double model_seconds) const {
  const std::vector<Opportunity>& offers = prospects.offers();
  std::optional<size_t> best;
  double most = smallest_gain_;
  for (size_t i = 0; i < offers.size(); ++i) {
    const Opportunity& o = offers[i];
    const auto form = forms_.find(o.signature);
    if (form == forms_.end() || rewrites.rounds_too_much(form->second.steps) || prospects.is_exhausted(o)) continue;
    const double promised = model_gain(o.seconds / std::max(model_seconds, 1e-12), form->second.log_gain);
    if (promised < most || was_tried(state, o, candidate_id(form->second.steps))) continue;
    most = promised;
    best = i;
  }
  return best;
}

std::string KnownForms::origin_of(const SessionState& state, const std::string& signature, const Proposal& p) const {
  const auto form = forms_.find(signature);
  if (form != forms_.end() && p.id == candidate_id(form->second.steps)) return form->second.origin;
  if (!holds_foreign_text(p.steps)) return "";
  std::vector<Experiment> earlier;
  for (const auto& [id, e] : state.experiments()) earlier.push_back(e);
  return amdahl::origin_of(earlier, p.steps);
}

}  // namespace amdahl
