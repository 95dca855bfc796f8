#include "tuner/search/session_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "playbook/first_plan.h"
#include "tuner/search/profile_record.h"
#include "tuner/search/rebase.h"

namespace amdahl {

void SessionState::start_clock(double seconds_before) { started_ = context_.runner.now() - seconds_before; }

void SessionState::begin() {
  starter_ = head_ = first_plan(context_.graph, context_.options.threads, context_.runner.target());
  PlanRecord record;
  record.id = head_id_ = gated_id_ = 1;
  record.gated = true;
  record.plan = head_;
  Commit c;
  c.options = context_.options;
  c.plans = {record};
  commit(c);
}

void SessionState::load() {
  const SessionStore& store = context_.store;
  for (Experiment& e : store.experiments()) experiments_[e.id] = std::move(e);
  for (PlanRecord& p : store.plans()) plans_[p.id] = std::move(p);
  ledger_rows_ = static_cast<int64_t>(store.ledger().size());
  profile_rows_ = static_cast<int64_t>(store.profiles().size());
  const Json s = store.state();
  head_id_ = s.at("head");
  gated_id_ = s.at("gated");
  pending_ = s.at("pending").get<std::vector<PendingWin>>();
  earlier_seconds_ = s.at("seconds");
  last_gate_at_ = s.at("last_gate_at");
  proven_log_ = s.at("proven_log");
  baseline_seconds_ = s.at("baseline_seconds");
  phases_ = s.value("phases", phases_);
  costs_.gate = s.value("gate_seconds", costs_.gate);
  costs_.model_pair = s.value("model_pair_seconds", costs_.model_pair);
  costs_.measured = s.value("gate_measured", costs_.measured);
  costs_.profile = s.value("profile_seconds", costs_.profile);
  starter_ = plan(plans_.begin()->first);
  head_ = plan(head_id_);
}

Json SessionState::state() const {
  return Json{{"head", head_id_},
              {"gated", gated_id_},
              {"pending", pending_},
              {"seconds", spent()},
              {"last_gate_at", last_gate_at_},
              {"proven_log", proven_log_},
              {"baseline_seconds", baseline_seconds_},
              {"phases", phases_},
              {"gate_seconds", costs_.gate},
              {"model_pair_seconds", costs_.model_pair},
              {"gate_measured", costs_.measured},
              {"profile_seconds", costs_.profile}};
}

// A form that its own kind refuses to write has no text to keep: the experiment says so as its outcome.
void SessionState::add_texts(const Experiment& e, Commit& c) const {
  if (!e.replacement.is_array()) return;
  for (const Step& step : e.replacement.get<std::vector<Step>>()) try {
      c.texts[step.variant.id()] = context_.runner.target().source(step.variant);
    } catch (const std::exception&) {
    }
}

void SessionState::commit(Commit c) {
  c.state = state();
  for (const Experiment& e : c.experiments) {
    experiments_[e.id] = e;
    add_texts(e, c);
  }
  for (const PlanRecord& p : c.plans) plans_[p.id] = p;
  ledger_rows_ += static_cast<int64_t>(c.ledger.size());
  profile_rows_ += static_cast<int64_t>(c.profiles.size());
  context_.store.commit(c);
}

void SessionState::commit_seconds() { commit({}); }

void SessionState::record(const Experiment& e) {
  Commit c;
  c.experiments = {e};
  commit(c);
  context_.observer.on_experiment(e);
}

void SessionState::adopt(const Experiment& e, PendingWin win, const Plan& next) {
  PlanRecord record;
  record.id = plans_.rbegin()->first + 1;
  record.parent = std::exchange(head_id_, record.id);
  record.experiment = e.id;
  record.plan = head_ = next;
  win.experiment = e.id;
  win.plan = record.id;
  pending_.push_back(win);
  Commit c;
  c.experiments = {e};
  c.plans = {record};
  commit(c);
  context_.observer.on_experiment(e);
}

void SessionState::confirm(size_t i, const Experiment& e, double predicted) {
  pending_[i].predicted = predicted;
  pending_[i].confirmed = true;
  record(e);
}

void SessionState::take_back(size_t i, const Experiment& e) {
  Commit c;
  c.experiments = {e};
  drop(i, c);
  commit(c);
  context_.observer.on_experiment(e);
}

void SessionState::drop(size_t i, Commit& c) {
  const int64_t taken = pending_[i].experiment;
  const std::vector<PendingWin> later(pending_.begin() + static_cast<std::ptrdiff_t>(i) + 1, pending_.end());
  for (size_t j = i; j < pending_.size(); ++j) {
    PlanRecord record = plans_.at(pending_[j].plan);
    record.rolled_back = true;
    c.plans.push_back(record);
  }
  pending_.resize(i);
  head_id_ = pending_.empty() ? gated_id_ : pending_.back().plan;
  head_ = plan(head_id_);
  ++take_backs_;
  int64_t next_plan = plans_.rbegin()->first + 1;
  for (const PendingWin& win : later) {
    if (move_to_head(win, next_plan, c)) {
      ++next_plan;
      continue;
    }
    Experiment e = experiment(win.experiment);
    e.stage = "gate";
    e.outcome = Outcome::kInconclusive;
    e.reason = fmt::format("rolled back with experiment {}", taken);
    c.experiments.push_back(e);
  }
}

bool SessionState::move_to_head(PendingWin win, int64_t number, Commit& c) {
  PlanRecord record = plans_.at(win.plan);
  std::optional<Plan> moved = rebased(context_.graph, plan(record.parent), record.plan.get<Plan>(), head_);
  if (!moved) return false;
  record.id = win.plan = number;
  record.parent = std::exchange(head_id_, number);
  record.plan = head_ = std::move(*moved);
  pending_.push_back(win);
  c.plans.push_back(record);
  return true;
}

void SessionState::commit_gate(const LedgerEntry& entry, Commit c) {
  c.ledger = {entry};
  last_gate_at_ = spent();
  commit(std::move(c));
  context_.observer.on_ledger(entry);
}

void SessionState::pass_gate(const LedgerEntry& entry, size_t count) {
  Commit c;
  PlanRecord record = plans_.at(entry.plan_after);
  record.gated = true;
  c.plans = {record};
  gated_id_ = record.id;
  proven_log_ += entry.measured.log;
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(count));
  commit_gate(entry, std::move(c));
}

void SessionState::fail_gate(const LedgerEntry& entry) { commit_gate(entry, {}); }

void SessionState::roll_back(const LedgerEntry& entry, const Experiment& culprit) {
  Commit c;
  c.experiments = {culprit};
  drop(0, c);
  commit_gate(entry, std::move(c));
}

void SessionState::add_profile(const Profile& profile, double seconds) {
  costs_.profile = seconds;
  spend("profile", seconds);
  if (baseline_seconds_ == 0 && head_id_ == plans_.begin()->first) baseline_seconds_ = profile.seconds;
  Commit c;
  c.profiles = {profile_record(profile, profile_rows_ + 1, head_id_)};
  commit(c);
}

void SessionState::note_gate(double seconds, double pair_seconds) {
  costs_.gate = seconds;
  spend("gate", seconds);
  if (pair_seconds <= 0) return;
  costs_.model_pair = pair_seconds;
  costs_.measured = true;
}

// A gate takes six to twelve pairs and two checks of the outputs.
void SessionState::guess_model_pair(double seconds) {
  if (costs_.measured) return;
  costs_.model_pair = seconds;
  costs_.gate = 10 * seconds;
}

std::optional<size_t> SessionState::unconfirmed() const {
  for (size_t i = 0; i < pending_.size(); ++i)
    if (!pending_[i].confirmed) return i;
  return std::nullopt;
}

std::optional<ProfileRecord> SessionState::newest_profile_of_head() const {
  const std::vector<ProfileRecord> profiles = context_.store.profiles();
  const auto mine = std::find_if(profiles.rbegin(), profiles.rend(), [&](const auto& p) { return p.plan == head_id_; });
  return mine == profiles.rend() ? std::nullopt : std::optional(*mine);
}

double SessionState::current_seconds() const {
  double log = proven_log_;
  for (const PendingWin& p : pending_) log += p.predicted;
  return baseline_seconds_ * std::exp(-log);
}

}  // namespace amdahl
