#pragma once
// The trial runner of the tuner, which also writes down every pair that it measured.

#include <chrono>
#include <utility>

#include "tuner/trials/local_trials.h"

namespace amdahl::trust {

struct LoggedPair {
  double log_ratio = 0;      // log(incumbent / challenger)
  std::vector<double> a, b;  // one call of the incumbent, of the challenger, by segment
  std::string dropped;       // not empty: did not count, and why
  double wealth = 0;         // after it
  double seconds = 0;        // with the start of both processes
};

class RecordingTrials : public LocalTrials {
 public:
  using LocalTrials::LocalTrials;
  PairTrial pair(const std::vector<Step>& challenger, const BuildResult& built, const Placebos& placebos, Random& random) override {
    const auto start = std::chrono::steady_clock::now();
    PairTrial paired = LocalTrials::pair(challenger, built, placebos, random);
    if (paired.failure) return paired;
    const Timing& t = paired.pair.timing;
    pairs_.push_back(
        {t.log_ratio, t.segments_a, t.segments_b, paired.pair.dropped, 0, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()});
    return paired;
  }
  // Those since the last call.
  std::vector<LoggedPair> take_pairs() { return std::exchange(pairs_, {}); }

 private:
  std::vector<LoggedPair> pairs_;
};

}  // namespace amdahl::trust
