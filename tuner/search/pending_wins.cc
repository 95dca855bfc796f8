#include "tuner/search/pending_wins.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/counted.h"
#include "base/statistics.h"
#include "tuner/measurement/decision.h"
#include "tuner/search/headline.h"
#include "tuner/search/rebase.h"

namespace amdahl {

void PendingWins::apply(Experiment& e, const Opportunity& o, const Proposal& p) {
  int applied = 0;
  const Plan next = apply_everywhere(graph, head, o.windows, p.steps, &applied);
  if (applied == 0) {
    end(e, Outcome::kMistrusted, "prove", "the replacement does not fit into the plan");
    return;
  }
  e.occurrences = applied;
  PendingWin win;
  win.experiment = e.id;
  win.share = std::min(0.999, o.seconds * applied / static_cast<double>(o.windows.size()) / std::max(profile.seconds, 1e-12));
  win.predicted = model_gain(win.share, median(e.prove_log_ratios));
  win.proven_at = spent();
  const double left = options.seconds > 0 ? std::max(0.0, options.seconds - spent()) : 1e12;
  win.confirm_at = win.proven_at + std::min(options.rules.of(p.steps).rule.confirm_after, left / 10);
  PlanRecord record;
  record.id = win.plan = plans.rbegin()->first + 1;
  record.parent = head_id;
  record.experiment = e.id;
  record.plan = next;
  e.outcome = Outcome::kInconclusive;
  e.stage = "proven";
  e.reason = fmt::format("{:+.1f}% in the median of {}, at {}; waits for its confirmation", percent(median(e.prove_log_ratios)),
                         counted(e.prove_log_ratios.size(), "pair"), counted(applied, "place"));
  const Plan before = std::exchange(head, next);
  head_id = record.id;
  pending.push_back(win);
  Commit c;
  c.experiments = {e};
  c.plans = {record};
  commit(c);
  observer.on_experiment(e);
  say("profiling again");
  follow_profile(before, median(e.prove_log_ratios));
}

std::optional<size_t> PendingWins::unconfirmed() const {
  for (size_t i = 0; i < pending.size(); ++i)
    if (!pending[i].confirmed) return i;
  return std::nullopt;
}

std::optional<size_t> PendingWins::due_confirmation() const {
  const std::optional<size_t> i = unconfirmed();
  return i && spent() >= pending[*i].confirm_at ? i : std::nullopt;
}

bool PendingWins::confirm(size_t i) {
  Experiment e = experiments.at(pending[i].experiment);
  status.rewrite = e.rewrite;
  status.window = e.window;
  status.why = "a second proof, of other builds and later";
  say("confirming on fresh pairs");
  const double start = lab.now();
  e.confirm_delay = spent() - pending[i].proven_at;
  const Evidence evidence = second_evidence(e);
  e.seconds.confirm = since(start);
  e.confirm_log_ratios = evidence.log_ratios;
  note(e, evidence);
  if (evidence.end == Evidence::End::kUnfinished) return false;
  if (evidence.end == Evidence::End::kPassed) {
    keep(e, pending[i]);
    return true;
  }
  if (evidence.failure) {
    e.outcome = evidence.failure->outcome;
    e.code = evidence.failure->code;
    e.reason = evidence.failure->reason;
  } else {
    e.outcome = outcome_of(evidence);
    e.reason = not_proven(evidence);
  }
  e.stage = "confirm";
  Commit c;
  c.experiments = {e};
  take_back(i, c);
  commit(c);
  observer.on_experiment(e);
  measure_profile();
  return true;
}

Evidence PendingWins::second_evidence(const Experiment& e) {
  const auto replacement = e.replacement.get<std::vector<Step>>();
  Evidence evidence;
  evidence.end = Evidence::End::kBroken;
  evidence.failure = Failure{Outcome::kInconclusive, "", "confirm", "", 0};
  if (const std::string why = lab.enter(task_on(plans.at(e.plan).plan.get<Plan>(), e.signature, {e.steps})); !why.empty()) {
    evidence.failure->reason = "cannot be confirmed: " + why;
    return evidence;
  }
  const Built built = lab.build({replacement})[0];
  if (!built.ok) {
    evidence.failure->reason = "cannot be confirmed: " + built.message;
    return evidence;
  }
  Random random = judged_random(e.id, 0xc0f1f);
  const DecisionRule& rule = options.rules.of(replacement).rule;
  return gather_evidence(lab, rule, replacement, built, /*first_build=*/1 + rule.builds, random, [&](const std::vector<double>&) {
    check_stop();
    return !fits(0, latest_confirmation());
  });
}

double PendingWins::latest_confirmation() const {
  if (gated_id == 1 && confirmed() == 0) return latest_end();
  return std::min(latest_end(), latest_headline(options.seconds) - fewest_headline_seconds() - (confirmed() > 0 ? gate_seconds : 0));
}

double PendingWins::latest_gate() const {
  return gated_id == 1 ? latest_end() : std::min(latest_end(), latest_headline(options.seconds) - fewest_headline_seconds());
}

double PendingWins::fewest_headline_seconds() const { return kFewestHeadlinePairs * model_pair_seconds; }

void PendingWins::keep(Experiment& e, PendingWin& win) {
  e.gain = estimate(e.confirm_log_ratios);
  win.predicted = model_gain(win.share, e.gain.log);
  win.confirmed = true;
  e.outcome = Outcome::kKept;
  e.stage = "confirm";
  e.reason = fmt::format("{:+.1f}% [{:+.1f}, {:+.1f}] at {}, {:+.2f}% of the model predicted; confirmed {:.0f} s after its proof",
                         percent(e.gain.log), percent(e.gain.lo), percent(e.gain.hi), counted(e.occurrences, "place"), percent(win.predicted), e.confirm_delay);
  Commit c;
  c.experiments = {e};
  commit(c);
  observer.on_experiment(e);
}

void PendingWins::take_back(size_t i, Commit& c) {
  const int64_t taken = pending[i].experiment;
  const std::vector<PendingWin> later(pending.begin() + static_cast<std::ptrdiff_t>(i) + 1, pending.end());
  for (size_t j = i; j < pending.size(); ++j) {
    PlanRecord record = plans.at(pending[j].plan);
    record.rolled_back = true;
    c.plans.push_back(record);
  }
  pending.resize(i);
  head_id = pending.empty() ? gated_id : pending.back().plan;
  head = plans.at(head_id).plan.get<Plan>();
  int64_t next_plan = plans.rbegin()->first + 1;
  for (PendingWin win : later) {
    PlanRecord record = plans.at(win.plan);
    const Plan before = plans.at(record.parent).plan.get<Plan>();
    if (std::optional<Plan> moved = rebased(graph, before, record.plan.get<Plan>(), head)) {
      record.id = win.plan = next_plan++;
      record.parent = std::exchange(head_id, record.id);
      record.plan = head = std::move(*moved);
      pending.push_back(win);
      c.plans.push_back(record);
      continue;
    }
    Experiment e = experiments.at(win.experiment);
    e.stage = "gate";
    e.outcome = Outcome::kInconclusive;
    e.reason = fmt::format("rolled back with experiment {}", taken);
    c.experiments.push_back(e);
  }
  codes.clear();
}

bool PendingWins::gate_is_due() const {
  if (options.seconds > 0 && gate_seconds > 0.1 * (options.seconds - spent())) return false;
  double sum = 0;
  for (size_t i = 0; i < confirmed(); ++i) sum += pending[i].predicted;
  return confirmed() > 0 && (sum > 0.05 || confirmed() >= 6) && spent() - last_gate_at > 3 * gate_seconds;
}

void PendingWins::run_gate() {
  const double start = lab.now();
  if (!gate) gate = std::make_unique<Gate>(lab, starter, options.gate());
  // The longest run of wins that the model confirms: all, else the first half of them, and so on down to one.
  size_t count = confirmed();
  bool rolled_back = false;
  while (count > 0 && !gate_waits) {
    status.rewrite = status.window = status.why = "";
    say(fmt::format("gate: {} of {} on the whole model", count, counted(confirmed(), "win")));
    double predicted = 0;
    std::vector<int64_t> ids;
    for (size_t i = 0; i < count; ++i) {
      predicted += pending[i].predicted;
      ids.push_back(pending[i].experiment);
    }
    const int64_t after = pending[count - 1].plan;
    Random random = judged_random(ledger_rows + 1, 0x6a7e);
    std::optional<LedgerEntry> judged =
        gate->judge(plans.at(gated_id).plan.get<Plan>(), plans.at(after).plan.get<Plan>(), predicted, random, [&] { return !fits(0, latest_gate()); });
    if (!judged) {
      gate_waits = true;
      break;
    }
    LedgerEntry& entry = *judged;
    entry.id = ledger_rows + 1;
    entry.experiments = ids;
    entry.plan_before = gated_id;
    entry.plan_after = after;
    Commit c;
    c.ledger = {entry};
    if (entry.kept) {
      PlanRecord record = plans.at(after);
      record.gated = true;
      c.plans = {record};
      gated_id = after;
      proven_log += entry.measured.log;
      pending.erase(pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(count));
      count = confirmed();
    } else if (count > 1) {
      count /= 2;
    } else {
      roll_back(entry, c);
      rolled_back = true;
      count = 0;
    }
    last_gate_at = spent();
    commit(c);
    observer.on_ledger(entry);
    gate_waits = count > 0 && !fits(0, latest_gate());
  }
  gate_seconds = since(start);
  phases["gate"] += gate_seconds;
  if (gate->pair_seconds() > 0) {
    model_pair_seconds = gate->pair_seconds();
    gate_measured = true;
  }
  if (rolled_back) measure_profile();
}

void PendingWins::roll_back(const LedgerEntry& entry, Commit& c) {
  Experiment culprit = experiments.at(pending[0].experiment);
  culprit.stage = "gate";
  culprit.outcome = Outcome::kReverted;
  culprit.reason = "the whole model contradicts it: " + entry.reason;
  c.experiments.push_back(culprit);
  take_back(0, c);
}

void PendingWins::close() {
  while (const std::optional<size_t> i = unconfirmed())
    if (!fits(experiments.at(pending[*i].experiment).seconds.prove, latest_confirmation()) || !confirm(*i)) break;
  if (confirmed() == 0 || gate_waits) return;
  // What it takes is a cautious guess before the first one, and a gate that is out of time gives up between two pairs.
  gate_waits = !fits(0.5 * gate_seconds, latest_gate());
  if (!gate_waits) run_gate();
}

double PendingWins::closing_seconds(bool one_more) const {
  const bool gate_comes = one_more || !pending.empty();
  if (!gate_comes && gated_id == 1) return 0;
  double sum = gate_comes ? gate_seconds : 0;
  for (const PendingWin& p : pending)
    if (!p.confirmed) sum += 1.5 * experiments.at(p.experiment).seconds.prove + 2;
  return sum + (graph.buckets.empty() ? profile_seconds : 0) + headline_seconds();
}

double PendingWins::headline_seconds() const {
  const int shapes_profiled = graph.buckets.empty() ? 0 : kHeadlineProfiles;
  const double headline = (headline_pairs(options.seconds, model_pair_seconds) + 0.5 * shapes_profiled) * model_pair_seconds;
  // A run that was given little time searches all the same: its headline runs over.
  const double most = options.seconds > 0 ? 0.3 * std::max(0.0, options.seconds - seconds_before) : headline;
  return std::min(headline, most);
}

}  // namespace amdahl
