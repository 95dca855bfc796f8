#pragma once
// What it takes to try forms of a window and to prove one, in seconds, by the time of a run of it; and how far a search there is worth its
// time: until it has cost about what the proof costs that ends it. A search that is left earlier pays for a second proof when the rest of it
// wins after all (docs/decisions/0017-a-search-costs-about-what-its-proof-costs.md).

#include <algorithm>

namespace amdahl {

// Checks and races of one candidate run the window some 42 times: measured on products of 102 and 182 ms, 38 and 49 s for six forms.
inline double runs_of_candidate(double run_seconds) { return 42 * run_seconds; }
// All of it: a candidate of a short window takes a third of a second.
inline double cost_of_candidate(double run_seconds) { return 0.33 + runs_of_candidate(run_seconds); }
// A proof with its confirmation: measured on products of 111 ms (gpt2's last one: 38 s in all, others 10) and of 640 ms (at 512 tokens: 280 s).
inline double cost_of_proof(double run_seconds) { return 10 + 250 * run_seconds; }

// Candidates built together and raced, `most` on short windows: half a proof's time, two at least.
inline int candidates_of_batch(double run_seconds, int most) {
  return std::min(most, std::max(2, static_cast<int>(0.5 * cost_of_proof(run_seconds) / cost_of_candidate(run_seconds))));
}

// Batches without a faster form that end the search on a window, `most` on short ones.
inline int fruitless_batches(double run_seconds, int most_candidates, int most) {
  const double batch = candidates_of_batch(run_seconds, most_candidates) * cost_of_candidate(run_seconds);
  return std::min(most, std::max(1, static_cast<int>(cost_of_proof(run_seconds) / batch)));
}

}  // namespace amdahl
