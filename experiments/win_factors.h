#pragma once
// What of a win is its algorithm, and what the blocks it was tuned to.

#include <cstdint>
#include <map>

#include "experiments/session_store.h"

namespace amdahl {

// Logs; both together are the gain of the window. Only blocks that were tried on the incumbent's algorithm can tell: `best_blocks` is the experiment
// that came furthest with it against the same incumbent, 0 where none was timed, and then nothing is known of the two.
struct WinFactors {
  double algorithm = 0, blocking = 0;
  int64_t best_blocks = 0;
};

// By id, of kept experiments that compute their window another way than what they replaced. Those that only changed blocks are not there.
std::map<int64_t, WinFactors> win_factors(const SessionStore& store);

}  // namespace amdahl
