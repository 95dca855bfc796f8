#pragma once
// Where a session's random numbers come from: its seed, and the number of what they are drawn for; so a resumed run draws the same.

#include "base/random.h"
#include "tuner/search/tune_options.h"

namespace amdahl {

// For what is tried: by the seed alone.
inline Random random_for(const TuneOptions& options, int64_t number, uint64_t salt) {
  return Random(options.seed * 0x9e3779b97f4a7c15ull ^ static_cast<uint64_t>(number) * 0xd1342543de82ef95ull ^ salt);
}
// For what is timed or checked: nobody knows it beforehand.
inline Random judged_random(const TuneOptions& options, int64_t number, uint64_t salt) {
  return Random(options.judged_seed() ^ static_cast<uint64_t>(number) * 0xd1342543de82ef95ull ^ salt);
}

}  // namespace amdahl
