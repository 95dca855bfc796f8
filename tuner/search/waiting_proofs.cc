#include "tuner/search/waiting_proofs.h"

#include <algorithm>

#include "base/statistics.h"
#include "tuner/search/searcher.h"
#include "tuner/search/verdict.h"
#include "tuner/search/window_task.h"

namespace amdahl {

double worth_a_second(const Experiment& e, const DecisionRule& rule) {
  const SignTest test(rule, e.prove_log_ratios);
  const double seconds = e.seconds.prove / test.pairs() * (test.pairs_left() + test.pairs_of_a_stage());
  return model_gain(e.share, std::max(0.0, median(e.prove_log_ratios))) / seconds;
}

std::optional<WaitingProof> WaitingProofs::best() const {
  const std::vector<Opportunity>& offers = prospects_.offers();
  std::optional<WaitingProof> best;
  for (const auto& [id, e] : state_.experiments()) {
    if (!won_its_race(e) || e.prove_log_ratios.empty()) continue;
    const auto o = std::find_if(offers.begin(), offers.end(), [&](const Opportunity& at) {
      return at.signature == e.signature && candidate_id(steps_of(state_.head(), at.windows[0])) == e.incumbent;
    });
    if (o == offers.end()) continue;
    const double worth = worth_a_second(e, rules_.of(e.replacement.get<std::vector<Step>>()).rule);
    if (!best || worth > best->worth_a_second) best = WaitingProof{id, static_cast<size_t>(o - offers.begin()), worth};
  }
  return best;
}

std::optional<WaitingProof> WaitingProofs::due(const std::optional<Choice>& next) const {
  const std::optional<WaitingProof> waiting = best();
  return waiting && next && next->rate() > waiting->worth_a_second ? std::nullopt : waiting;
}

}  // namespace amdahl
