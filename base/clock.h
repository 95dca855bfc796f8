#pragma once
// The clock that durations are measured with: no change of the date moves it.

#include <chrono>

namespace amdahl {

using Clock = std::chrono::steady_clock;

// Seconds.
inline double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

}  // namespace amdahl
