#include "tuner/search/progress_reporter.h"

namespace amdahl {

void ProgressReporter::set_subject(const std::string& rewrite, const std::string& window) {
  status_.rewrite = rewrite;
  status_.window = window;
}

void ProgressReporter::clear_subject() { status_.rewrite = status_.window = status_.why = ""; }

void ProgressReporter::check_stop() const {
  if (stop_.load()) throw Stopped{};
}

void ProgressReporter::count(TuneStatus& status) const {
  status.experiments = static_cast<int64_t>(state_.experiments().size());
  status.baseline_seconds = state_.baseline_seconds();
  status.current_seconds = state_.current_seconds();
  status.proven_log_speedup = state_.proven_log();
  status.seconds_spent = state_.spent();
}

void ProgressReporter::say(const std::string& phase) {
  check_stop();
  status_.phase = phase;
  count(status_);
  status_.outcomes.clear();
  for (const auto& [id, e] : state_.experiments()) ++status_.outcomes[e.outcome];
  status_.kept = status_.outcomes[Outcome::kKept];
  status_.seconds_left = budget_.seconds_left(/*without_limit=*/-1);
  status_.experiments_left = budget_.experiments_left(/*without_limit=*/-1);
  observer_.on_status(status_);
}

TuneStatus ProgressReporter::status() const {
  TuneStatus now = status_;
  count(now);
  return now;
}

}  // namespace amdahl
