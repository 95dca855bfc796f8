#include "tuner/validation/conduct.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/counted.h"

namespace amdahl {
namespace {

constexpr int64_t kOnce = int64_t{128} << 10, kEachCall = 64;
constexpr std::array<std::string_view, 4> kOfConduct{"cpu-time", "wrote-beside", "wrote-late", "still-working"};

bool handlers_differ(const Report& report, const ProcessState& now, const ProcessState& honest) {
  return report.handlers_changed || now.caught_signals != honest.caught_signals || now.ignored_signals != honest.ignored_signals ||
         now.blocked_signals != honest.blocked_signals;
}

// Threads that an honest kernel has and this one has not begun yet (a team of one, before it is called from inside a larger one) lack theirs.
bool affinities_differ(const ProcessState& now, const ProcessState& honest) {
  if (now.threads == honest.threads) return now.affinities != honest.affinities;
  return !std::includes(honest.affinities.begin(), honest.affinities.end(), now.affinities.begin(), now.affinities.end());
}

}  // namespace

std::optional<Misconduct> misconduct(const Report& report, const ProcessState& now, const ProcessState& honest) {
  if (report.damaged_temporaries) return Misconduct{"wrote-beside", "wrote to a weight, or beside a temporary, a workspace or a packed copy"};
  if (report.float_control_changed) return Misconduct{"left-float-control", "changed the floating-point control word (rounding, flush to zero)"};
  if (now.threads > honest.threads) return Misconduct{"left-threads", fmt::format("left {} behind", counted(now.threads - honest.threads, "thread"))};
  if (now.descriptors > honest.descriptors)
    return Misconduct{"left-descriptors", fmt::format("left {} open", counted(now.descriptors - honest.descriptors, "file"))};
  if (handlers_differ(report, now, honest)) return Misconduct{"left-handlers", "changed what signals do"};
  if (affinities_differ(now, honest))
    return Misconduct{"left-affinity",
                      fmt::format("changed the CPUs of its threads: {}, were {}", fmt::join(now.affinities, " "), fmt::join(honest.affinities, " "))};
  return std::nullopt;
}

std::optional<Misconduct> lost_memory(int64_t grown, int64_t calls) {
  if (grown <= kOnce + calls * kEachCall) return std::nullopt;
  return Misconduct{"left-memory", fmt::format("{} left {} KiB of memory behind", counted(calls, "call"), grown >> 10)};
}

bool is_misconduct(const std::string& code) { return code.starts_with("left-") || std::find(kOfConduct.begin(), kOfConduct.end(), code) != kOfConduct.end(); }

}  // namespace amdahl
