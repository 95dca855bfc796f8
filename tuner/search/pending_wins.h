#pragma once
// Wins after their proof: applied to the head at once, confirmed by a second proof minutes later, let through by the whole model
// at a gate, or taken back with what was built on them.

#include <memory>
#include <optional>

#include "tuner/search/gate.h"
#include "tuner/search/loop_state.h"
#include "tuner/search/searcher.h"

namespace amdahl {

struct PendingWins : LoopState {
  std::unique_ptr<Gate> gate;
  bool gate_waits = false;  // the last gate of a session ran over: what it has not decided stays pending

  // Puts a proven win into the head: the search goes on on top of it while its confirmation waits.
  void apply(Experiment& e, const Opportunity& o, const Proposal& p);

  // The oldest win without its confirmation: later ones stand on it.
  std::optional<size_t> unconfirmed() const;
  std::optional<size_t> due_confirmation() const;
  // The second stage: fresh pairs of fresh builds, against the incumbent that the proof had. Everything it needs is in the
  // store, so it may come in another process than the proof. False when time ran out: the win stays pending.
  bool confirm(size_t i);

  // Leading pending wins that may go to the gate.
  size_t confirmed() const { return unconfirmed().value_or(pending.size()); }
  // Small wins wait for company: a whole-model pair costs two starts of the model. A session with a budget ends with a gate anyway:
  // one before that may take a tenth of what is left.
  bool gate_is_due() const;
  void run_gate();
  // What a session ends with: every win confirmed, the confirmed ones through the gate, as long as what it took so far fits into the time that is
  // left. A win that waits for lack of time stays pending; a resumed run goes on with it.
  void close();
  // What it takes to end the session: confirmations that are due by then, a gate, and the headline that the caller measures.
  // `one_more`: with a win that comes to its proof now.
  double closing_seconds(bool one_more = false) const;
  double headline_seconds() const;

 private:
  // The last confirmations and the last gate of a session may run over, but not for ever, and never so far that what is won already loses its gate or its
  // headline to them: what they leave undecided stays pending.
  double latest_confirmation() const;
  double latest_gate() const;
  double fewest_headline_seconds() const;
  Evidence second_evidence(const Experiment& e);
  void keep(Experiment& e, PendingWin& win);
  // Takes back pending win `i`, whose own record the caller writes. Later wins elsewhere stay, moved to the plan without it; what was built on
  // top of it goes too, and is taken up again before anything new is tried there.
  void take_back(size_t i, Commit& c);
  // The first pending win did not arrive in the model.
  void roll_back(const LedgerEntry& entry, Commit& c);
};

}  // namespace amdahl
