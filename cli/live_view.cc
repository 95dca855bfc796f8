#include "cli/live_view.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/time_text.h"
#include "cli/say.h"
#include "experiments/standing.h"

namespace amdahl {
namespace {

LiveSize terminal_size() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 1 || size.ws_row < 1) return {};
  return {size.ws_col, size.ws_row};
}

bool draws_blocks() {
  const char* kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) && kind && *kind && std::string(kind) != "dumb";
}

bool wants_colour() {
  const char* no = std::getenv("NO_COLOR");  // no-color.org: set and not empty
  return !(no && *no);
}

std::string kept_text(const Experiment& e) {
  return fmt::format("#{} {} on {}{}: {}", e.id, e.rewrite, e.window, e.occurrences > 1 ? fmt::format(" (x{})", e.occurrences) : "", interval_text(e.gain));
}

std::string gate_text(const LedgerEntry& e) {
  if (e.measured.pairs == 0) return fmt::format("rolled back before it was timed: {}", e.reason);
  return fmt::format("{}: {:.2f}x predicted, {} measured on the whole model, {} -> {}", e.kept ? "kept" : "rolled back", std::exp(e.predicted),
                     interval_text(e.measured), time_text(e.before_seconds), time_text(e.after_seconds));
}

// What a log says of an experiment: keeps, failures, and proofs that proved nothing. Losers are the normal case: counted, not told.
std::string told(const Experiment& e) {
  if (e.outcome == Outcome::kKept) return kept_text(e) + " proven";
  if (e.outcome == Outcome::kReverted) return "";
  if (e.outcome == Outcome::kInconclusive) return e.stage == "proven" ? fmt::format("#{} {} on {}: {}", e.id, e.rewrite, e.window, e.reason) : "";
  return fmt::format("#{} {} on {}: {}: {}", e.id, e.rewrite, e.window, name_of(e.outcome), e.reason);
}

}  // namespace

LiveView::LiveView(std::string model, bool shown, std::function<void()> after_change)
    : shown_(shown), terminal_(shown && draws_blocks()), colour_(wants_colour()), after_change_(std::move(after_change)) {
  state_.model = std::move(model);
  if (terminal_) ticker_ = std::thread([this] { tick(); });
}

LiveView::~LiveView() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_all();
  if (ticker_.joinable()) ticker_.join();
  erase();
}

void LiveView::tick() {
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, std::chrono::seconds(1), [&] { return end_; }))
    if (drawn_) draw();
}

void LiveView::erase() {
  if (!drawn_) return;
  say("\r\x1b[J");
  std::fflush(stderr);
  drawn_ = false;
}

// The cursor waits at the block's first character, and rows are cut off by the terminal, not wrapped: then nothing goes wrong
// when the terminal changes its size, which it may do before this process can know.
void LiveView::draw() {
  LiveState now = state_;
  const double passed = since(status_at_);
  now.status.seconds_spent += passed;
  if (now.status.seconds_left >= 0) now.status.seconds_left = std::max(0.0, now.status.seconds_left - passed);
  const std::vector<std::string> rows = live_block(now, terminal_size(), colour_);
  std::string text = "\r\x1b[?7l";
  for (const std::string& row : rows) text += row + "\x1b[K\n";
  say("{}\x1b[J\x1b[{}A\x1b[?7h", text, rows.size());  // at once: nothing is seen half drawn
  std::fflush(stderr);
  drawn_ = true;
}

void LiveView::line(const std::string& text) {
  if (shown_ && !terminal_ && !text.empty()) say("  {}\n", text);
}

void LiveView::show(std::string* where, const std::string& text) {
  const std::lock_guard lock(mutex_);
  *where = text;
  line(text);
  if (terminal_) draw();
}

void LiveView::changed() const {
  if (after_change_) after_change_();
}

void LiveView::on_status(const TuneStatus& status) {
  {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    const bool new_phase = status.phase != state_.status.phase;
    state_.status = status;
    status_at_ = now;
    if (status.baseline_seconds > 0 && status.current_seconds > 0) {
      const double speedup = status.baseline_seconds / status.current_seconds;
      if (state_.frontier.empty() || state_.frontier.back().speedup != speedup) state_.frontier.push_back({status.seconds_spent, speedup});
    }
    const double since = std::chrono::duration<double>(now - last_).count();
    const double again = terminal_ ? (new_phase ? 0 : 0.1) : 10;  // a log gets a line every ten seconds
    if (shown_ && since >= again) {
      if (terminal_) draw();
      else say("{}\n", live_line(status));
      last_ = now;
    }
  }
  changed();
}

void LiveView::on_experiment(const Experiment& e) {
  {
    const std::lock_guard lock(mutex_);
    if (e.outcome == Outcome::kKept) state_.kept.push_back(kept_text(e));
    line(told(e));
    if (terminal_) draw();
  }
  changed();
}

void LiveView::on_ledger(const LedgerEntry& e) {
  show(&state_.gate, gate_text(e));
  changed();
}

void LiveView::on_note(const std::string& note) { show(&state_.note, note); }

void LiveView::phase(const std::string& what) {
  {
    const std::lock_guard lock(mutex_);
    state_.status.rewrite = state_.status.window = state_.status.why = "";
  }
  show(&state_.status.phase, what);
}

}  // namespace amdahl
