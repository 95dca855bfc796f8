#include "tuner/measurement/cpu_time.h"

#include <fmt/format.h>

#include "base/counted.h"

namespace amdahl {
namespace {

constexpr double kBeside = 200e-6;  // seconds at most
constexpr double kTick = 0.01;      // of clocks that count in ticks

}  // namespace

void CpuTime::add(const RunTime& run) {
  if (run.beside_seconds > kBeside) return;
  ++runs_;
  wall_ += run.seconds;
  used_ += run.cpu_seconds;
}

std::optional<std::string> CpuTime::excess() const {
  if (used_ <= threads_ * (1.1 * wall_ + kBeside * runs_) + kTick) return std::nullopt;
  return fmt::format("used {:.1f} ms of CPU time in {:.1f} ms with {}", 1e3 * used_, 1e3 * wall_, counted(threads_, "thread"));
}

}  // namespace amdahl
