#include "experiments/comparison_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "base/counted.h"
#include "base/time_text.h"
#include "experiments/session_store.h"
#include "experiments/standing.h"

namespace amdahl {
namespace {

bool has_other_weights(const ComparedArm& row) { return row.difference && row.compared_with != "ours"; }

std::string difference_text(const ComparedArm& row) {
  if (!row.difference) return "-";
  return (*row.difference == 0 ? "none" : fmt::format("{:.1e}", *row.difference)) + (has_other_weights(row) ? "*" : "");
}

// Columns as wide as what is in them.
std::string lines_of(const std::vector<std::vector<std::string>>& cells) {
  std::vector<size_t> width(cells[0].size());
  for (const auto& row : cells)
    for (size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
  std::string text;
  for (const auto& row : cells) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) line += fmt::format("{:<{}}  ", row[c], width[c]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string not_measured(const std::vector<ComparedArm>& rows) {
  std::string text;
  for (const ComparedArm& row : rows) {
    if (is_measured(row)) continue;
    if (text.empty()) text = "\nnot in the running\n";
    text += fmt::format("  {}{}: {}\n", label_of(row), row.precision == "f32" ? "" : " in " + row.precision, row.reason);
    if (!row.advice.empty()) text += fmt::format("      {}\n", row.advice);
  }
  return text;
}

}  // namespace

bool is_measured(const ComparedArm& row) { return row.reason.empty() && row.seconds > 0; }

std::string label_of(const ComparedArm& row) {
  return fmt::format("{}{}{}{}{}", row.title, row.version.empty() ? "" : " ", row.version, row.form.empty() ? "" : ", ", row.form);
}

const ComparedArm* first_of_ours(const std::vector<ComparedArm>& rows) {
  const auto ours = std::find_if(rows.begin(), rows.end(), [](const ComparedArm& row) { return row.ours; });
  return ours == rows.end() ? nullptr : &*ours;
}

std::string compared_table(const std::vector<ComparedArm>& rows) {
  const ComparedArm* ours = first_of_ours(rows);
  std::vector<const ComparedArm*> measured;
  for (const ComparedArm& row : rows)
    if (is_measured(row)) measured.push_back(&row);
  std::stable_sort(measured.begin(), measured.end(), [](const ComparedArm* a, const ComparedArm* b) { return a->seconds < b->seconds; });
  std::vector<std::vector<std::string>> cells{{"", "a run", "times ours [95%]", "threads", "precision", "difference"}};
  for (const ComparedArm* row : measured)
    cells.push_back({label_of(*row), time_text(row->seconds), row == ours ? "" : interval_text(row->over_ours), std::to_string(row->threads), row->precision,
                     row == ours ? "" : difference_text(*row)});
  const bool marked = std::any_of(measured.begin(), measured.end(), [](const ComparedArm* row) { return has_other_weights(*row); });
  return lines_of(cells) + (marked ? "* from its own eager run: its weights are other numbers than ours\n" : "") + not_measured(rows);
}

std::string standing_text(const Baseline& baseline) {
  const Gain& g = baseline.peer.over_ours;
  const std::string peer = label_of(baseline.peer);
  if (standing_of(g) == Standing::kLevel) return fmt::format("ours is level with {}: {}", peer, interval_text(g));
  if (standing_of(g) == Standing::kFaster) return fmt::format("ours is {} as fast as {}", interval_text(g), peer);
  return fmt::format("{} is {} as fast as ours", peer, interval_text({-g.log, -g.hi, -g.lo, g.pairs}));
}

std::string conditions_text(const Baseline& baseline) {
  constexpr double kShortRun = 300e-6;    // a call from Python, some microseconds of a peer's time, is a part of it that one sees
  constexpr double kQuietMachine = 0.05;  // what it does beside us stays below that
  const auto [peer, ours] = baseline;
  const auto made = static_cast<std::time_t>(peer.made_at);
  char when[32] = "?";
  if (std::tm utc{}; gmtime_r(&made, &utc)) std::strftime(when, sizeof when, "%Y-%m-%d %H:%M UTC", &utc);
  const bool by_python = !peer.version.empty() && peer.seconds < kShortRun;  // an arm of the user's own has no version
  std::string text = fmt::format("{} beside {} a run{}, {}, ", time_text(ours.seconds), time_text(peer.seconds), by_python ? " called from Python" : "",
                                 counted(ours.threads, "thread"));
  text += ours.precision == peer.precision ? ours.precision : fmt::format("{} beside {}", ours.precision, peer.precision);
  if (!ours.shape.empty()) text += ", shape " + ours.shape;
  text += fmt::format(", {}, {}", counted(peer.round_seconds.size(), "round"), when);
  if (peer.others >= kQuietMachine) text += fmt::format("; others had {:.0f}% of the processors", 100 * peer.others);
  return text;
}

std::string age_text(const Baseline& baseline, const SessionStore& store) {
  const Json state = store.state();
  const int64_t kept = state.is_object() ? state.value("gated", int64_t{0}) : 0;
  return kept == baseline.ours.plan ? "" : "of another plan than the one kept now: compare again";
}

}  // namespace amdahl
