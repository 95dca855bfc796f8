#pragma once
// Proofs that were given up because something else promised more a second: they go on when nothing does.

#include <optional>

#include "tuner/search/prospects.h"

namespace amdahl {

// What a proof under way promises the model, log, for each second that it and its confirmation will still take.
double worth_a_second(const Experiment& e, const DecisionRule& rule);

struct WaitingProof {
  int64_t experiment;
  size_t opportunity;  // of the prospects' offers: its window, which stands as it did
  double worth_a_second;
};

class WaitingProofs {
 public:
  WaitingProofs(const TuneContext& context, const SessionState& state, Prospects& prospects)
      : rules_(context.options.rules), state_(state), prospects_(prospects) {}

  // The one worth most, unless `next` promises more; none when none waits.
  std::optional<WaitingProof> due(const std::optional<Choice>& next) const;

 private:
  std::optional<WaitingProof> best() const;

  const ProofRules& rules_;
  const SessionState& state_;
  Prospects& prospects_;
};

}  // namespace amdahl
