#include "tuner/measurement/fresh_pairs.h"

#include <utility>

namespace amdahl {

// A proof takes at least nine pairs: three pairs of processes.
int placements_a_process(const WorkerBackend& backend) { return backend.candidates_run_on_host() ? 1 : 3; }

PairResult FreshPairs::measure(const std::string& key, const Arm& incumbent, const Arm& challenger, const PairSettings& settings, Random& random) {
  // Out of reach while it runs: what throws leaves nothing behind.
  std::unique_ptr<ArmPair> pair = std::move(pair_);
  if (!pair || key != key_) {
    pair.reset();
    pair = std::make_unique<ArmPair>(incumbent, challenger, settings, random);
    key_ = key;
    measured_ = 0;
  }
  PairResult result = pair->measure(settings, random);
  if (++measured_ < placements_a_process(*settings.worker.backend) && !result.disqualified) pair_ = std::move(pair);
  return result;
}

}  // namespace amdahl
