#include "tuner/measurement/fresh_pairs.h"

#include <utility>

namespace amdahl {

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
  if (++measured_ < settings.worker.backend->placements_a_process() && !result.disqualified) pair_ = std::move(pair);
  return result;
}

}  // namespace amdahl
