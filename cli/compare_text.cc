#include "cli/compare_text.h"

#include <fmt/format.h>

#include "base/shell_word.h"
#include "experiments/comparison_text.h"
#include "experiments/standing.h"
#include "profiler/processor_load.h"

namespace amdahl {
namespace {

// What rounds more than ours, and is faster: no baseline, and no secret either.
std::string faster_in_bf16(const std::vector<ComparedArm>& rows, const ComparedArm& ours) {
  const ComparedArm* fastest = nullptr;
  for (const ComparedArm& row : rows)
    if (!row.ours && is_measured(row) && row.precision != ours.precision && row.precision != "f32" && (!fastest || row.seconds < fastest->seconds))
      fastest = &row;
  if (!fastest || standing_of(fastest->over_ours) != Standing::kSlower) return "";
  return fmt::format("in {0}, {1} takes {2} of our time; `amdahl tune MODEL --allow {0}` allows ours as much\n", fastest->precision, label_of(*fastest),
                     interval_text(fastest->over_ours));
}

// What waits for a processor says little of itself; teams that spin, and threads that have a processor of their own, lose most.
std::string busy_text(const ComparedArm& ours) {
  if (ours.others < kBusyShare) return "";
  return fmt::format("other programs had {:.0f}% of the processors meanwhile: this says little; stop them, and compare again\n", 100 * ours.others);
}

std::string next_text(const std::vector<ComparedArm>& rows, const std::optional<Baseline>& baseline, const std::string& session, const std::string& model) {
  if (!baseline)
    for (const ComparedArm& row : rows)
      if (!row.advice.empty()) return fmt::format("next     {}\n", row.advice);
  if (session.empty()) return fmt::format("next     amdahl tune {}\n", shell_word(model));
  if (baseline && standing_of(baseline->peer.over_ours) != Standing::kFaster) return fmt::format("next     amdahl resume {}\n", shell_word(session));
  return fmt::format("next     amdahl report {}\n", shell_word(session));
}

}  // namespace

std::string compare_end(const std::vector<ComparedArm>& rows, const std::string& session, const std::string& model) {
  const std::optional<Baseline> baseline = best_baseline(rows);
  std::string text = "\n";
  if (baseline) text += fmt::format("{}\n  {}\n", standing_text(*baseline), conditions_text(*baseline));
  else text += "no other runtime was measured: nothing is said of ours beside them\n";
  if (const ComparedArm* ours = first_of_ours(rows)) text += faster_in_bf16(rows, *ours) + busy_text(*ours);
  return text + next_text(rows, baseline, session, model);
}

}  // namespace amdahl
