#pragma once
// What it takes to try forms of a window and to prove one, by the time of a run of it; and how far a search there is worth its time: until
// it has cost about what the proof costs that ends it. A search that is left earlier pays for a second proof when the rest of it wins after all.

#include <algorithm>

namespace amdahl {

// Checks and races of one candidate (it runs the window some 42 times), beside what is the same for all windows: measured on products of 102 and 182 ms, 38 and 49 s for six forms.
inline double seconds_of_trial(double run_seconds) { return 42 * run_seconds; }

constexpr double kFixedTrial = 0.33;  // seconds: that rest, of a candidate

// A proof with its confirmation: measured on products of 111 ms (gpt2's last one: 38 s in all, others 10) and of 640 ms (at 512 tokens: 280 s).
inline double seconds_of_proof(double run_seconds) { return 10 + 250 * run_seconds; }

// Candidates built together and raced, `most` on short windows: half a proof's time, two at least.
inline int candidates_of_burst(double run_seconds, int most) {
  const double candidate = kFixedTrial + seconds_of_trial(run_seconds);
  return std::min(most, std::max(2, static_cast<int>(0.5 * seconds_of_proof(run_seconds) / candidate)));
}

// Bursts without a faster form that end the search on a window, `most` on short ones.
inline int fruitless_bursts(double run_seconds, int most_candidates, int most) {
  const double burst = candidates_of_burst(run_seconds, most_candidates) * (kFixedTrial + seconds_of_trial(run_seconds));
  return std::min(most, std::max(1, static_cast<int>(seconds_of_proof(run_seconds) / burst)));
}

}  // namespace amdahl
