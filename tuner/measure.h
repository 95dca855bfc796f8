#pragma once
// Times of two arms against each other. The unit of evidence is one pair of fresh processes: anything less measures where
// this process happened to lie (validation.md, "Keep or revert").

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "tuner/reference.h"
#include "tuner/worker_process.h"

namespace amdahl {

// One arm as a worker gets it. `subjects` compute the same from different builds of the same code (placebo builds: other
// code addresses); one is drawn for each pair. Usually one.
struct Arm {
  std::vector<const Subject*> subjects;
  int instances = 1;
  uint64_t weights_seed = 1;
  bool use_blob_fd = false;
};

struct Drive {
  WorkerOptions worker;
  Family family = Family::kNormal;
  uint64_t input_seed = 1;
  std::vector<InputRange> ranges;
  double load_seconds = 60, call_seconds = 10;  // deadlines
};

// Fixed before timing and equal for both arms: a segment of `calls` calls lasts at least 1.5 ms, so that the clock and the
// hand-over (some 20 us, subtracted) are small; short segments in many alternations keep drift out.
struct Segments {
  int calls = 1, blocks = 10;  // a block is ABBA or BAAB; up to 10 of them, as the budget allows
};
Segments plan_segments(double call_seconds, double budget_seconds, double fewest_blocks = 2);

struct Timing {
  double seconds_a = 0, seconds_b = 0;  // one call, median over segments
  double log_ratio = 0;                 // log(a / b)
};
Timing alternate(WorkerProcess& a, WorkerProcess& b, const Segments& segments, double deadline, Random& random);

// A fresh worker with the arm loaded, its inputs made and its threads started.
std::unique_ptr<WorkerProcess> start_arm(const Arm& arm, const Drive& drive, Random& random);

struct PairResult {
  Timing timing;            // a: incumbent, b: challenger
  std::string dropped;      // not empty: a reason that does not look at which arm was faster
};
// Random order of starting, random blocks, both processes fresh. `inspect` sees the challenger's process after its timed
// calls.
PairResult measure_pair(const Arm& incumbent, const Arm& challenger, const Drive& drive, double budget_seconds,
                        Random& random, const std::function<void(WorkerProcess&)>& inspect = {});

// Copies of the weights that a worker runs in turn, so that they come from memory as in the model: about `budget` bytes.
int instances_for(const Program& program, size_t budget = size_t{96} << 20);

}  // namespace amdahl
