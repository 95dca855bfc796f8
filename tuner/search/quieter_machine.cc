#include "tuner/search/quieter_machine.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/processor_load.h"

namespace amdahl {
namespace {

constexpr int kMostWaits = 14;  // where no budget ends them: about ten minutes

}  // namespace

bool QuieterMachine::is_wanted() const { return profile_.get().busy >= kBusyShare && prospects_.are_ruled_out_by_profile(); }

std::string QuieterMachine::why() const {
  return fmt::format("other programs have {:.0f}% of the processors, so that what is left to win cannot be told", 100 * profile_.get().busy);
}

bool QuieterMachine::wait() {
  if (!is_wanted()) return false;
  const double rest = std::min(5.0 * static_cast<double>(1 << std::min(waits_, 4)), 60.0);
  const bool may_wait = context_.options.seconds > 0 ? budget_.has_time_for(rest + state_.costs().profile) : waits_ < kMostWaits;
  if (!may_wait) return false;
  ++waits_;
  TrialRunner& runner = context_.runner;
  for (double until = runner.now() + rest; runner.now() < until;) {
    progress_.say(fmt::format("waiting: other programs have {:.0f}% of the processors, what is left to win cannot be told", 100 * profile_.get().busy));
    runner.rest(std::min(1.0, until - runner.now() + 1e-3));
  }
  return true;
}

}  // namespace amdahl
