#include "tuner/search/pending_wins.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/counted.h"
#include "base/statistics.h"
#include "tuner/measurement/decision.h"
#include "tuner/search/seeds.h"
#include "tuner/search/verdict.h"
#include "tuner/search/window_task.h"

namespace amdahl {

void PendingWins::apply(Experiment e, const Opportunity& o, const Proposal& p) {
  int applied = 0;
  const Plan next = apply_everywhere(context_.graph, state_.head(), o.windows, p.steps, &applied);
  if (applied == 0) {
    set_verdict(e, Outcome::kMistrusted, "prove", "the replacement does not fit into the plan");
    return state_.record(e);
  }
  e.occurrences = applied;
  const double gain = median(e.prove_log_ratios);
  set_verdict(e, Outcome::kInconclusive, "proven",
              fmt::format("{:+.1f}% in the median of {}, at {}; waits for its confirmation", percent(gain), counted(e.prove_log_ratios.size(), "pair"),
                          counted(applied, "place")));
  const PendingWin win = win_of(e, o, p);
  const Plan before = state_.head();
  state_.adopt(e, win, next);
  progress_.say("profiling again");
  profile_.follow(before, gain);
}

PendingWin PendingWins::win_of(const Experiment& e, const Opportunity& o, const Proposal& p) const {
  PendingWin win;
  win.share = std::min(0.999, o.seconds * e.occurrences / static_cast<double>(o.windows.size()) / std::max(profile_.seconds(), 1e-12));
  win.predicted = model_gain(win.share, median(e.prove_log_ratios));
  win.proven_at = state_.spent();
  win.confirm_at = win.proven_at + std::min(context_.options.rules.of(p.steps).rule.confirm_after, budget_.seconds_left(/*without_limit=*/1e12) / 10);
  return win;
}

std::optional<size_t> PendingWins::due_confirmation() const {
  const std::optional<size_t> i = state_.unconfirmed();
  return i && state_.spent() >= state_.pending()[*i].confirm_at ? i : std::nullopt;
}

bool PendingWins::confirm(size_t i) {
  Experiment e = state_.experiment(state_.pending()[i].experiment);
  progress_.set_subject(e.rewrite, e.window);
  progress_.set_reason("a second proof, of other builds and later");
  progress_.say("confirming on fresh pairs");
  const double start = runner_.now();
  e.confirm_delay = state_.spent() - state_.pending()[i].proven_at;
  const Evidence evidence = second_evidence(e);
  e.seconds.confirm = state_.since(start);
  e.confirm_log_ratios = evidence.log_ratios;
  add_evidence(e, evidence);
  if (evidence.end == Evidence::End::kUnfinished) return false;
  if (evidence.end == Evidence::End::kPassed) keep(i, e);
  else take_back(i, e, evidence);
  return true;
}

Evidence PendingWins::second_evidence(const Experiment& e) {
  const auto replacement = e.replacement.get<std::vector<Step>>();
  const auto impossible = [](const std::string& why) {
    Evidence evidence;
    evidence.end = Evidence::End::kBroken;
    evidence.failure = Failure{Outcome::kInconclusive, "", "confirm", "cannot be confirmed: " + why, 0};
    return evidence;
  };
  const WindowTask task = window_task(context_.graph, state_.plan(e.plan), e.signature, {e.steps});
  if (const std::string why = runner_.enter(task); !why.empty()) return impossible(why);
  const BuildResult built = runner_.build({replacement})[0];
  if (!built.ok) return impossible(built.message);
  Random random = judged_random(context_.options, e.id, 0xc0f1f);
  const DecisionRule& rule = context_.options.rules.of(replacement).rule;
  return gather_evidence(runner_, rule, replacement, built, /*first_build=*/1 + rule.builds, random, [&](const std::vector<double>&) {
    progress_.check_stop();
    return !budget_.fits(0, budget_.latest_confirmation());
  });
}

void PendingWins::keep(size_t i, Experiment& e) {
  e.gain = estimate(e.confirm_log_ratios);
  const double predicted = model_gain(state_.pending()[i].share, e.gain.log);
  set_verdict(e, Outcome::kKept, "confirm",
              fmt::format("{:+.1f}% [{:+.1f}, {:+.1f}] at {}, {:+.2f}% of the model predicted; confirmed {:.0f} s after its proof", percent(e.gain.log),
                          percent(e.gain.lo), percent(e.gain.hi), counted(e.occurrences, "place"), percent(predicted), e.confirm_delay));
  state_.confirm(i, e, predicted);
}

void PendingWins::take_back(size_t i, Experiment& e, const Evidence& evidence) {
  if (evidence.failure) {
    e.code = evidence.failure->code;
    set_verdict(e, evidence.failure->outcome, "confirm", evidence.failure->reason);
  } else {
    set_verdict(e, outcome_of(evidence), "confirm", not_proven(evidence));
  }
  state_.take_back(i, e);
  profile_.measure();
}

bool PendingWins::gate_is_due() const {
  const double gate_seconds = state_.costs().gate;
  if (context_.options.seconds > 0 && gate_seconds > 0.1 * (context_.options.seconds - state_.spent())) return false;
  const size_t confirmed = state_.confirmed();
  double sum = 0;
  for (size_t i = 0; i < confirmed; ++i) sum += state_.pending()[i].predicted;
  return confirmed > 0 && (sum > 0.05 || confirmed >= 6) && state_.spent() - state_.last_gate_at() > 3 * gate_seconds;
}

// Lets through the longest run of wins that the model confirms: all, else the first half of them, and so on down to one.
void PendingWins::run_gate() {
  const double start = runner_.now();
  if (!gate_) gate_ = std::make_unique<Gate>(runner_, plain_, context_.options.gate());
  const int64_t take_backs = state_.take_backs();
  for (size_t count = state_.confirmed(); count > 0 && !gate_waits_;) {
    const std::optional<LedgerEntry> entry = judge(count);
    if (entry) count = follow_verdict(*entry, count);
    gate_waits_ = !entry || (count > 0 && !budget_.fits(0, budget_.latest_gate()));
  }
  state_.note_gate(state_.since(start), gate_->pair_seconds());
  if (state_.take_backs() != take_backs) profile_.measure();
}

// The first `count` wins on the whole model; nothing when time ran out.
std::optional<LedgerEntry> PendingWins::judge(size_t count) {
  progress_.clear_subject();
  progress_.say(fmt::format("gate: {} of {} on the whole model", count, counted(state_.confirmed(), "win")));
  double predicted = 0;
  std::vector<int64_t> experiments;
  for (size_t i = 0; i < count; ++i) {
    predicted += state_.pending()[i].predicted;
    experiments.push_back(state_.pending()[i].experiment);
  }
  const int64_t before = state_.gated_id(), after = state_.pending()[count - 1].plan;
  const int64_t id = state_.next_ledger_entry();
  Random random = judged_random(context_.options, id, 0x6a7e);
  std::optional<LedgerEntry> entry =
      gate_->judge(state_.plan(before), state_.plan(after), predicted, random, [&] { return !budget_.fits(0, budget_.latest_gate()); });
  if (!entry) return std::nullopt;
  entry->id = id;
  entry->experiments = std::move(experiments);
  entry->plan_before = before;
  entry->plan_after = after;
  return entry;
}

// Returns how many wins the gate is to be asked about next.
size_t PendingWins::follow_verdict(const LedgerEntry& entry, size_t count) {
  if (entry.kept) {
    state_.pass_gate(entry, count);
    return state_.confirmed();
  }
  if (count > 1) {
    state_.fail_gate(entry);
    return count / 2;
  }
  Experiment culprit = state_.experiment(state_.pending()[0].experiment);
  set_verdict(culprit, Outcome::kReverted, "gate", "the whole model contradicts it: " + entry.reason);
  state_.roll_back(entry, culprit);
  return 0;
}

void PendingWins::close() {
  while (const std::optional<size_t> i = state_.unconfirmed()) {
    const double proof = state_.experiment(state_.pending()[*i].experiment).seconds.prove;
    if (!budget_.fits(proof, budget_.latest_confirmation()) || !confirm(*i)) break;
  }
  if (state_.confirmed() == 0 || gate_waits_) return;
  // What it takes is a cautious guess before the first one, and a gate that is out of time gives up between two pairs.
  gate_waits_ = !budget_.fits(0.5 * state_.costs().gate, budget_.latest_gate());
  if (!gate_waits_) run_gate();
}

}  // namespace amdahl
