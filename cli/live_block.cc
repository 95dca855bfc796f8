#include "cli/live_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/counted.h"
#include "base/time_text.h"

namespace amdahl {
namespace {

constexpr int kLabel = 10;  // "frontier  "
constexpr const char* kDim = "\x1b[2m";
constexpr const char* kGreen = "\x1b[32m";
constexpr const char* kPlain = "\x1b[0m";

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

// At most `columns` characters, whole ones. What a model or a compiler wrote must not steer the terminal.
std::string cut(const std::string& text, int columns) {
  std::string out;
  int used = 0;
  for (char c : text) {
    if (starts_character(c) && ++used > columns) break;
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  }
  return out;
}

// `rows` rows, always as many: the block stands still while its words change. Broken at blanks; the last one is cut off.
std::vector<std::string> wrapped(std::string text, int columns, int rows) {
  std::vector<std::string> lines;
  while (static_cast<int>(lines.size()) < rows) {
    std::string line = cut(text, columns);
    if (line.size() < text.size() && static_cast<int>(lines.size()) + 1 < rows)
      if (const size_t blank = line.rfind(' '); blank != std::string::npos && blank > 0) line.resize(blank);
    text.erase(0, std::min(text.size(), line.size()));
    text.erase(0, text.find_first_not_of(' '));
    lines.push_back(std::move(line));
  }
  return lines;
}

// A kept step in one row: of "#3 fuse_gelu on a long window (x12): 1.50x [1.40, 1.60]" the window is what may be cut, not what was won.
std::string kept_text(const std::string& text, int columns) {
  const size_t places = text.rfind(" (x"), gain = std::min(places, text.rfind(": "));
  if (width_of(text) <= columns || gain == std::string::npos) return text;
  const std::string end = text.substr(gain);
  return cut(text.substr(0, gain), std::max(0, columns - width_of(end) - 1)) + "…" + end;
}

std::string clock_text(double seconds) {
  const auto s = static_cast<int64_t>(std::max(0.0, seconds));
  return s < 3600 ? fmt::format("{}:{:02}", s / 60, s % 60) : fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

std::string left_text(const TuneStatus& s) {
  if (s.seconds_left >= 0) return clock_text(s.seconds_left) + " left";
  if (s.experiments_left >= 0) return counted(s.experiments_left, "experiment") + " left";
  return "until nothing is left to win";
}

double speedup_of(const TuneStatus& s) { return s.current_seconds > 0 && s.baseline_seconds > 0 ? s.baseline_seconds / s.current_seconds : 1; }

std::string model_text(const TuneStatus& s) {
  if (s.baseline_seconds <= 0) return "starter plan not measured yet";
  const std::string text = fmt::format("{} a run -> {}; ", time_text(s.baseline_seconds), time_text(s.current_seconds));
  if (s.proven_log_speedup == 0) return text + "not confirmed on the whole model yet";
  return text + fmt::format("{:.2f}x confirmed on the whole model", std::exp(s.proven_log_speedup));
}

std::string now_text(const TuneStatus& s) {
  std::string text = s.phase;
  if (!s.rewrite.empty()) text += ": " + s.rewrite;
  if (!s.window.empty()) text += " on " + s.window;
  return text;
}

std::string tried_text(const TuneStatus& s) {
  const double rate = s.seconds_spent > 1 ? 3600.0 * static_cast<double>(s.experiments) / s.seconds_spent : 0;
  std::string text = fmt::format("{}, {:.0f} an hour", counted(s.experiments, "experiment"), rate);
  const char* before = ": ";
  for (const auto& [outcome, count] : s.outcomes) {
    if (count == 0) continue;
    text += fmt::format("{}{} {}", before, count, name_of(outcome));
    before = ", ";
  }
  return text;
}

// How much of the budget is spent, where there is one.
std::string bar(const TuneStatus& s, int columns) {
  const double spent = s.seconds_left >= 0 ? s.seconds_spent : static_cast<double>(s.experiments);
  const double left = s.seconds_left >= 0 ? s.seconds_left : static_cast<double>(s.experiments_left);
  if (left < 0 || spent + left <= 0 || columns < 4) return "";
  const int full = static_cast<int>(columns * spent / (spent + left));
  std::string text;
  for (int i = 0; i < columns; ++i) text += i < full ? "━" : "╌";
  return text;
}

class Block {
 public:
  Block(const LiveSize& size, bool colour) : columns_(std::max(20, size.columns - 1)), colour_(colour) {}
  int text_columns() const { return columns_ - kLabel; }

  void row(const std::string& label, const std::string& text, int rows = 1, const char* tint = nullptr) {
    bool first = true;
    for (const std::string& line : wrapped(text, text_columns(), rows)) {
      rows_.push_back(tinted(fmt::format("{:<{}}", first ? label : "", kLabel), kDim) + tinted(line, tint));
      first = false;
    }
  }
  std::vector<std::string> rows(int most) && {
    if (static_cast<int>(rows_.size()) > most) rows_.resize(static_cast<size_t>(std::max(1, most)));
    return std::move(rows_);
  }

 private:
  std::string tinted(const std::string& text, const char* tint) const { return colour_ && tint && !text.empty() ? tint + text + kPlain : text; }

  int columns_;
  bool colour_;
  std::vector<std::string> rows_;
};

}  // namespace

std::string sparkline(const std::vector<FrontierPoint>& frontier, double until, int columns) {
  constexpr const char* kLevels[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  if (frontier.empty() || columns < 1) return "";
  double low = 1, high = 1;
  for (const FrontierPoint& p : frontier) low = std::min(low, p.speedup), high = std::max(high, p.speedup);
  const double from = frontier.front().seconds, span = std::max(1e-9, until - from);
  std::string text;
  size_t at = 0;
  for (int column = 0; column < columns; ++column) {
    const double end = from + span * (column + 1) / columns;
    while (at + 1 < frontier.size() && frontier[at + 1].seconds <= end) ++at;
    const double height = high > low ? (frontier[at].speedup - low) / (high - low) : 0;
    text += kLevels[std::clamp(static_cast<int>(std::lround(7 * height)), 0, 7)];
  }
  return text;
}

std::vector<std::string> live_block(const LiveState& state, const LiveSize& size, bool colour) {
  const TuneStatus& s = state.status;
  Block block(size, colour);
  const int columns = block.text_columns();
  const int twice = columns < 100 ? 2 : 1;  // rows for what may be long
  block.row("model", fmt::format("{}: {}", state.model, model_text(s)), columns < 70 ? 2 : 1);
  const std::string now = fmt::format(" {:.2f}x", speedup_of(s));
  block.row("frontier", sparkline(state.frontier, s.seconds_spent, std::min(60, columns - static_cast<int>(now.size()))) + now, 1, kGreen);
  block.row("now", now_text(s), twice);
  block.row("why", s.why, twice);
  block.row("tried", tried_text(s), columns < 70 ? 2 : 1);
  const std::string time = fmt::format("{} spent, {}  ", clock_text(s.seconds_spent), left_text(s));
  block.row("time", time + bar(s, std::min(30, columns - width_of(time))));
  if (!state.gate.empty()) block.row("gate", state.gate, twice);
  if (!state.note.empty()) block.row("note", state.note, twice);
  const size_t most = 5, first = state.kept.size() > most ? state.kept.size() - most : 0;
  for (size_t i = state.kept.size(); i-- > first;)  // newest first: the oldest are what a low terminal leaves out
    block.row(i + 1 == state.kept.size() ? "kept" : "", kept_text(state.kept[i], columns), 1, kGreen);
  return std::move(block).rows(size.rows - 1);
}

std::string live_line(const TuneStatus& s) {
  std::string text = fmt::format("{}; {}, {} kept, {}; {}", model_text(s), counted(s.experiments, "experiment"), s.kept, left_text(s), now_text(s));
  if (!s.why.empty()) text += fmt::format(" ({})", s.why);
  return cut(text, 1000);
}

int width_of(const std::string& text) {
  int width = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      while (i < text.size() && text[i] != 'm') ++i;
    } else {
      width += starts_character(text[i]);
    }
  }
  return width;
}

}  // namespace amdahl
