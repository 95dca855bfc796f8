#include "cli/live_view.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace amdahl {
namespace {

size_t columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 100;
}

std::string clock_text(double seconds) {
  const auto s = static_cast<int64_t>(std::max(0.0, seconds));
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

std::string left_text(const TuneStatus& s) {
  if (s.seconds_left >= 0) return clock_text(s.seconds_left) + " left";
  if (s.experiments_left >= 0) return fmt::format("{} experiments left", s.experiments_left);
  return "until nothing is left to win";
}

std::string model_text(const TuneStatus& s) {
  if (s.baseline_seconds <= 0) return "default plan not measured yet";
  return fmt::format("{:.2f} ms a run -> {:.2f} ms, {:.2f}x confirmed on the whole model", 1e3 * s.baseline_seconds,
                     1e3 * s.current_seconds, std::exp(s.proven_log_speedup));
}

}  // namespace

LiveView::LiveView(bool shown) : shown_(shown), terminal_(isatty(STDERR_FILENO)) {}
LiveView::~LiveView() { erase(); }

void LiveView::erase() {
  if (drawn_lines_ > 0) fmt::print(stderr, "\x1b[{}A\r\x1b[J", drawn_lines_);
  drawn_lines_ = 0;
}

void LiveView::draw() {
  const size_t width = columns() - 1;
  const double rate = status_.seconds_spent > 1 ? 3600.0 * static_cast<double>(status_.experiments) / status_.seconds_spent : 0;
  std::string rows[] = {model_text(status_),
                        fmt::format("{} experiments ({:.0f} an hour), {} kept; {} spent, {}", status_.experiments, rate, status_.kept,
                                    clock_text(status_.seconds_spent), left_text(status_)),
                        fmt::format("{}: {} {}", status_.phase, status_.rewrite, status_.why)};
  erase();
  for (std::string& row : rows) {
    size_t end = std::min(row.size(), width);
    while (end < row.size() && (row[end] & 0xc0) == 0x80) --end;  // not inside a UTF-8 character
    row.resize(end);
    fmt::print(stderr, "{}\n", row);
  }
  drawn_lines_ = static_cast<int>(std::size(rows));
  std::fflush(stderr);
}

void LiveView::line(const std::string& text) {
  if (!shown_) return;
  erase();
  fmt::print(stderr, "{}\n", text);
  if (terminal_) draw();
}

void LiveView::on_status(const TuneStatus& status) {
  const bool new_phase = status.phase != status_.phase;
  status_ = status;
  if (!shown_) return;
  const auto now = Clock::now();
  const double since = std::chrono::duration<double>(now - last_).count();
  if (terminal_) {
    if (since < 0.1 && !new_phase) return;
    draw();
  } else {
    if (since < 10) return;  // a log gets a line every ten seconds
    fmt::print(stderr, "{}; {} experiments, {} kept, {}; {}: {} {}\n", model_text(status), status.experiments, status.kept, left_text(status),
               status.phase, status.rewrite, status.why);
  }
  last_ = now;
}

void LiveView::on_experiment(const Experiment& e) {
  switch (e.outcome) {
    case Outcome::kKept:
      return line(fmt::format("  #{} {} on {} (x{}): {:.2f}x [{:.2f}, {:.2f}] proven", e.id, e.rewrite, e.window, e.occurrences,
                              std::exp(e.gain.log), std::exp(e.gain.lo), std::exp(e.gain.hi)));
    case Outcome::kCrashed:
    case Outcome::kTimedOut:
    case Outcome::kWrong:
    case Outcome::kMistrusted:
    case Outcome::kBuildFailed:
      return line(fmt::format("  #{} {} on {}: {}: {}", e.id, e.rewrite, e.window, name_of(e.outcome), e.reason));
    case Outcome::kInconclusive:
      if (e.stage == "proven") line(fmt::format("  #{} {} on {}: {}", e.id, e.rewrite, e.window, e.reason));
      return;
    default: return;  // losers are the normal case: counted, not told
  }
}

void LiveView::on_ledger(const LedgerEntry& e) {
  line(fmt::format("  {} on the whole model: {:.2f}x predicted, {:.2f}x [{:.2f}, {:.2f}] measured, {:.2f} ms -> {:.2f} ms",
                   e.kept ? "kept" : "rolled back", std::exp(e.predicted), std::exp(e.measured.log), std::exp(e.measured.lo),
                   std::exp(e.measured.hi), 1e3 * e.before_seconds, 1e3 * e.after_seconds));
}

void LiveView::on_note(const std::string& note) { line("  " + note); }

}  // namespace amdahl
