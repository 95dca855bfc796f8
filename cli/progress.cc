#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "cli/say.h"

namespace amdahl {
namespace {

std::string left_text(double seconds) {
  if (seconds < 1) return "";
  if (seconds < 90) return fmt::format(", about {:.0f} s left", seconds);
  return fmt::format(", about {:.0f} min left", seconds / 60);
}

size_t terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

}  // namespace

Progress::Progress(std::string label, bool shown)
    : label_(std::move(label)), shown_(shown), terminal_(isatty(STDERR_FILENO)), start_(Clock::now()), last_(start_) {}

Progress::~Progress() {
  if (drawn_ && terminal_) say("\r\x1b[K");
}

void Progress::update(double done, double total, const std::string& note) {
  if (!shown_) return;
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double since_last = std::chrono::duration<double>(now - last_).count();
  // A terminal line is cheap to draw and is taken away again; a line in a log stays, so only for what really takes long.
  const double first = terminal_ ? 0.3 : 2, again = terminal_ ? 0.1 : 10;
  if (drawn_ ? since_last < again : elapsed < first) return;

  std::string line = label_;
  if (total > 0) line += fmt::format(": {:.0f} of {:.0f}", done, total);
  if (!note.empty()) line += (total > 0 ? ", " : ": ") + note;
  if (total > 0 && done > 0 && elapsed > 1) line += left_text(elapsed * (total - done) / done);
  if (terminal_) {
    line.resize(std::min(line.size(), terminal_columns() - 1));
    say("\r\x1b[K{}", line);
  } else {
    say("{}\n", line);
  }
  std::fflush(stderr);
  last_ = now;
  drawn_ = true;
}

}  // namespace amdahl
