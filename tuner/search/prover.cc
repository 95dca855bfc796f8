#include "tuner/search/prover.h"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/search/seeds.h"
#include "tuner/search/verdict.h"
#include "tuner/search/waiting_proofs.h"

namespace amdahl {
namespace {

// A proof that is not decided by so many pairs (a win that all pairs show is) waits while something else promises more than twice as much
// a second: wins of 2 to 3% took 13 to 44 pairs a stage, 40 to 120 s of five sessions' ten minutes, and brought 0.3% of the model.
constexpr size_t kPairsBeforeDoubt = 9;
constexpr double kWorthGoingOn = 0.5;

}  // namespace

bool Prover::is_worth_a_proof(Campaign::Best& win) {
  const std::string why_not = why_not_worth_it(win);
  if (why_not.empty()) return true;
  end(win.experiment, Outcome::kReverted, "race", fmt::format("{:+.1f}% in the race: {}", percent(win.experiment.race_log_ratio), why_not));
  return false;
}

// The rule proves nothing below delta and little below the noise; and the smaller the window's share, the more it must win.
std::string Prover::why_not_worth_it(const Campaign::Best& win) const {
  const TuneOptions& options = context_.options;
  const Experiment& e = win.experiment;
  const double promised = model_gain(e.share, e.race_log_ratio);
  if (promised < options.smallest_gain)
    return fmt::format("{:.3f}% of the model, not worth a proof (from {:.2f}% on)", percent(promised), percent(options.smallest_gain));
  const ProofRule& rule = options.rules.of(win.form.steps);
  const double provable = std::max(rule.rule.delta, rule.hopeful_gain);
  if (e.race_log_ratio < provable) return fmt::format("a gain below {:.1f}% is hardly ever proven on this machine, not worth a proof", percent(provable));
  return "";
}

bool Prover::prove(Campaign::Best& win, double rate_elsewhere) {
  progress_.say("proving in fresh processes");
  Experiment& e = win.experiment;
  const Evidence evidence = gather(win, context_.options.rules.of(win.form.steps).rule, rate_elsewhere);
  e.prove_log_ratios = evidence.log_ratios;
  add_evidence(e, evidence);
  switch (evidence.end) {
    case Evidence::End::kPassed: return true;
    case Evidence::End::kBroken:
      set_verdict(e, *evidence.failure);
      state_.record(e);
      return false;
    case Evidence::End::kFailed: end(e, outcome_of(evidence), "prove", not_proven(evidence)); return false;
    case Evidence::End::kUnfinished:
      if (evidence.log_ratios.empty()) return false;  // as it was after its race
      end(e, Outcome::kInconclusive, "race", not_proven(evidence) + " yet: " + (budget_.out_of_time() ? "time is up" : "others promise more a second"));
      return false;
  }
  return false;
}

// What a proof has taken is kept with the win as it goes on: its worth depends on it.
Evidence Prover::gather(Campaign::Best& win, const DecisionRule& rule, double rate_elsewhere) {
  Experiment& e = win.experiment;
  const std::vector<double> earlier = e.prove_log_ratios;
  const double start = context_.runner.now() - e.seconds.prove;
  const auto give_up = [&](const std::vector<double>& so_far) {
    progress_.check_stop();
    e.seconds.prove = state_.since(start);
    e.prove_log_ratios = so_far;
    if (budget_.out_of_time()) return true;  // stays unproven: a resumed run may go on
    return earlier.empty() && so_far.size() >= kPairsBeforeDoubt && worth_a_second(e, rule) < kWorthGoingOn * rate_elsewhere;
  };
  Random random = judged_random(context_.options, e.id, 0x9407e + earlier.size());
  Evidence evidence = gather_evidence(context_.runner, rule, win.form.steps, win.built, /*first_build=*/1, random, give_up, earlier);
  e.seconds.prove = state_.since(start);
  return evidence;
}

void Prover::end(Experiment& e, Outcome outcome, const std::string& stage, const std::string& reason) {
  set_verdict(e, outcome, stage, reason);
  state_.record(e);
}

}  // namespace amdahl
