#include "experiments/standing.h"

#include <fmt/format.h>

#include <cmath>

namespace amdahl {

Standing standing_of(const Gain& gain) {
  if (gain.lo > 0) return Standing::kFaster;
  return gain.hi < 0 ? Standing::kSlower : Standing::kLevel;
}

std::string_view name_of(Standing standing) {
  constexpr std::string_view names[] = {"faster", "level", "slower"};
  return names[static_cast<int>(standing)];
}

std::string interval_text(const Gain& gain, int digits) {
  return fmt::format("{:.{}f}x [{:.{}f}, {:.{}f}]", std::exp(gain.log), digits, std::exp(gain.lo), digits, std::exp(gain.hi), digits);
}

std::string contradiction(const Gain& claimed, const Gain& measured) {
  if (standing_of(claimed) == Standing::kFaster && standing_of(measured) != Standing::kFaster)
    return standing_of(measured) == Standing::kSlower ? "the kept plan is slower here" : "no gain shows here: the interval holds 1";
  // An interval speaks of one sitting. On a card that one differs from the next by 0.1 to 0.3% (gpt2-mini on an H200, 2026-11-27), more than its own pairs do among themselves.
  constexpr double kOtherSitting = 0.005;
  if (measured.hi < claimed.lo - kOtherSitting) return "less was measured than was claimed, the intervals do not meet";
  if (measured.lo > claimed.hi + kOtherSitting) return "more was measured than was claimed, the intervals do not meet";
  return "";
}

}  // namespace amdahl
