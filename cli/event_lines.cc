#include "cli/event_lines.h"

#include <cmath>

#include "cli/say.h"

namespace amdahl {
namespace {

Json number_or_null(bool known, double number) { return known ? Json(number) : Json(); }

}  // namespace

EventLines::EventLines(std::string model, std::function<void()> after_change) : model_(std::move(model)), after_change_(std::move(after_change)) {}

void EventLines::line(const char* event, Json fields) {
  fields["event"] = event;
  fields["model"] = model_;
  const std::string text = fields.dump(-1, ' ', false, Json::error_handler_t::replace);
  const std::lock_guard lock(mutex_);
  say("{}\n", text);
  std::fflush(stderr);
}

void EventLines::changed() const {
  if (after_change_) after_change_();
}

void EventLines::on_status(const TuneStatus& s) {
  line("status", {{"phase", s.phase},
                  {"rewrite", s.rewrite},
                  {"window", s.window},
                  {"experiments", s.experiments},
                  {"kept", s.kept},
                  {"starter_seconds", number_or_null(s.baseline_seconds > 0, s.baseline_seconds)},
                  {"seconds", number_or_null(s.current_seconds > 0, s.current_seconds)},
                  {"confirmed_speedup", std::exp(s.proven_log_speedup)},
                  {"spent", s.seconds_spent},
                  {"left", number_or_null(s.seconds_left >= 0, s.seconds_left)}});
  changed();
}

void EventLines::on_experiment(const Experiment& e) {
  line("experiment", {{"id", e.id}, {"rewrite", e.rewrite}, {"window", e.window}, {"outcome", std::string(name_of(e.outcome))}, {"reason", e.reason}});
  changed();
}

void EventLines::on_ledger(const LedgerEntry& e) {
  line("gate", {{"kept", e.kept},
                {"before_seconds", number_or_null(e.measured.pairs > 0, e.before_seconds)},
                {"after_seconds", number_or_null(e.measured.pairs > 0, e.after_seconds)},
                {"reason", e.reason}});
  changed();
}

void EventLines::on_note(const std::string& note) { line("note", {{"text", note}}); }

void EventLines::phase(const std::string& what) { line("phase", {{"phase", what}}); }

}  // namespace amdahl
