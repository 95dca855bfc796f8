#include "tuner/search/loop_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/counted.h"
#include "base/statistics.h"
#include "tuner/search/carried_profile.h"
#include "tuner/search/profile_record.h"

namespace amdahl {

void to_json(Json& j, const PendingWin& p) {
  j = Json{{"experiment", p.experiment}, {"plan", p.plan},           {"predicted", p.predicted}, {"share", p.share},
           {"proven_at", p.proven_at},   {"confirm_at", p.confirm_at}, {"confirmed", p.confirmed}};
}
void from_json(const Json& j, PendingWin& p) {
  j.at("experiment").get_to(p.experiment);
  j.at("plan").get_to(p.plan);
  j.at("predicted").get_to(p.predicted);
  p.share = j.value("share", p.share);
  p.proven_at = j.value("proven_at", p.proven_at);
  p.confirm_at = j.value("confirm_at", p.confirm_at);
  p.confirmed = j.value("confirmed", true);  // older sessions confirmed at once
}

void LoopState::check_stop() const {
  if (stop.load()) throw Stopped{};
}

Json LoopState::state() const {
  return Json{{"head", head_id},       {"gated", gated_id},         {"pending", pending},
              {"seconds", spent()},    {"last_gate_at", last_gate_at}, {"proven_log", proven_log},
              {"baseline_seconds", status.baseline_seconds}, {"phases", phases},
              {"gate_seconds", gate_seconds}, {"model_pair_seconds", model_pair_seconds}, {"gate_measured", gate_measured},
              {"profile_seconds", profile_seconds}};
}

// A form that its own kind refuses to write has no text to keep: the experiment says so as its outcome.
void LoopState::add_texts(const Experiment& e, Commit& c) const {
  if (!e.replacement.is_array()) return;
  for (const Step& step : e.replacement.get<std::vector<Step>>()) try {
      c.texts[step.variant.id()] = lab.target().source(step.variant);
    } catch (const std::exception&) {
    }
}

void LoopState::commit(Commit c) {
  c.state = state();
  for (const Experiment& e : c.experiments) {
    experiments[e.id] = e;
    add_texts(e, c);
  }
  for (const PlanRecord& p : c.plans) plans[p.id] = p;
  ledger_rows += static_cast<int64_t>(c.ledger.size());
  profile_rows += static_cast<int64_t>(c.profiles.size());
  store.commit(c);
}

void LoopState::load() {
  for (Experiment& e : store.experiments()) experiments[e.id] = std::move(e);
  for (PlanRecord& p : store.plans()) plans[p.id] = std::move(p);
  ledger_rows = static_cast<int64_t>(store.ledger().size());
  const std::vector<ProfileRecord> profiles = store.profiles();
  profile_rows = static_cast<int64_t>(profiles.size());
  const Json s = store.state();
  head_id = s.at("head");
  gated_id = s.at("gated");
  pending = s.at("pending").get<std::vector<PendingWin>>();
  seconds_before = s.at("seconds");
  last_gate_at = s.at("last_gate_at");
  proven_log = s.at("proven_log");
  status.baseline_seconds = s.at("baseline_seconds");
  phases = s.value("phases", phases);
  gate_seconds = s.value("gate_seconds", gate_seconds);
  model_pair_seconds = s.value("model_pair_seconds", model_pair_seconds);
  gate_measured = s.value("gate_measured", gate_measured);
  profile_seconds = s.value("profile_seconds", profile_seconds);
  starter = plans.begin()->second.plan.get<Plan>();
  head = plans.at(head_id).plan.get<Plan>();
  const auto mine = std::find_if(profiles.rbegin(), profiles.rend(), [&](const auto& p) { return p.plan == head_id; });
  if (mine == profiles.rend()) return measure_profile();
  profile = profile_of(*mine);
  profiled_id = head_id;
}

void LoopState::begin() {
  say("measuring the default plan");
  starter = head = starter_plan(graph, options.threads, lab.target());
  PlanRecord record;
  record.id = head_id = gated_id = 1;
  record.gated = true;
  record.plan = head;
  Commit c;
  c.options = options;
  c.plans = {record};
  commit(c);
  measure_profile();
}

void LoopState::measure_profile() {
  // Compilers first: what is timed below says how long a gate will take, and that one finds everything built.
  std::vector<std::vector<Step>> kernels;
  for (const Step& s : head.steps) kernels.push_back({s});
  const double build_start = lab.now();
  lab.build(kernels);
  phases["build"] += since(build_start);
  const double start = lab.now();
  profile = lab.profile(head);
  profile_seconds = since(start);
  profiled_at = spent();
  profiled_id = head_id;
  phases["profile"] += profile_seconds;
  if (status.baseline_seconds == 0 && head_id == plans.begin()->first) status.baseline_seconds = profile.seconds;
  Commit c;
  c.profiles = {profile_record(profile, profile_rows + 1, head_id)};
  commit(c);
  opportunities.clear();
  exhausted.clear();
  // A pair starts two such processes, for fewer runs each; a gate takes six to twelve pairs and two checks of the outputs. What a gate has measured counts more.
  if (gate_measured) return;
  model_pair_seconds = 1.5 * since(start);
  gate_seconds = 10 * model_pair_seconds;
}

void LoopState::follow_profile(const Plan& before, double log_gain) {
  if (spent() - profiled_at >= 10 * profile_seconds) return measure_profile();
  profile = carried_profile(before, profile, head, log_gain);
  opportunities.clear();
  exhausted.clear();
}

double LoopState::current_seconds() const {
  double log = proven_log;
  for (const PendingWin& p : pending) log += p.predicted;
  return status.baseline_seconds * std::exp(-log);
}

void LoopState::say(const std::string& phase) {
  check_stop();
  status.phase = phase;
  status.experiments = static_cast<int64_t>(experiments.size());
  status.outcomes.clear();
  for (const auto& [id, e] : experiments) ++status.outcomes[e.outcome];
  status.kept = status.outcomes[Outcome::kKept];
  status.current_seconds = current_seconds();
  status.proven_log_speedup = proven_log;
  status.seconds_spent = spent();
  status.seconds_left = options.seconds > 0 ? std::max(0.0, options.seconds - spent()) : -1;
  status.experiments_left =
      options.experiments > 0 ? std::max<int64_t>(0, options.experiments - status.experiments) : -1;
  observer.on_status(status);
}

Random LoopState::random_for(int64_t number, uint64_t salt) const {
  return Random(options.seed * 0x9e3779b97f4a7c15ull ^ static_cast<uint64_t>(number) * 0xd1342543de82ef95ull ^ salt);
}

Random LoopState::judged_random(int64_t number, uint64_t salt) const {
  return Random(options.judged_seed() ^ static_cast<uint64_t>(number) * 0xd1342543de82ef95ull ^ salt);
}

std::vector<Step> LoopState::steps_of(const Plan& plan, const Window& window) {
  std::vector<Step> steps;
  for (int s : window.steps) steps.push_back(plan.steps[static_cast<size_t>(s)]);
  return steps;
}

WindowTask LoopState::task_on(const Plan& plan, const std::string& sign, const Window& window) const {
  WindowTask task;
  task.signature = sign;
  task.io = io_of(graph, plan, window);
  task.threads = plan.threads;
  task.incumbent = steps_of(plan, window);
  return task;
}

void LoopState::end(Experiment& e, const Failure& f) {
  e.seed = f.seed;
  e.code = f.code;
  end(e, f.outcome, f.stage, f.reason);
}

void LoopState::end(Experiment& e, Outcome outcome, const std::string& stage, const std::string& reason) {
  e.outcome = outcome;
  e.stage = stage;
  e.reason = reason;
  Commit c;
  c.experiments = {e};
  commit(c);
  observer.on_experiment(e);
}

void LoopState::note(Experiment& e, const Evidence& evidence) {
  e.pairs_dropped += static_cast<int>(evidence.dropped.size());
  e.dropped_log_ratios.insert(e.dropped_log_ratios.end(), evidence.dropped.begin(), evidence.dropped.end());
  if (evidence.log_ratios.empty() || evidence.end == Evidence::End::kBroken) return;
  e.incumbent_seconds = evidence.incumbent_seconds;
  e.challenger_seconds = evidence.challenger_seconds;
}

std::string LoopState::not_proven(const Evidence& evidence) {
  if (evidence.worked_more && median(evidence.log_ratios) > 0)
    return fmt::format("{:+.1f}% in the median of {}, but slower in the mean: single calls take far longer", percent(median(evidence.log_ratios)),
                       counted(evidence.log_ratios.size(), "pair"));
  return fmt::format("{:+.1f}% in the median of {}, not proven", percent(median(evidence.log_ratios)), counted(evidence.log_ratios.size(), "pair"));
}

Outcome LoopState::outcome_of(const Evidence& evidence) {
  return median(evidence.log_ratios) > 0 ? Outcome::kInconclusive : Outcome::kReverted;
}

}  // namespace amdahl
