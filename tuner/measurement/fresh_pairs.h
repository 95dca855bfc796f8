#pragma once
// The pairs of a proof or a gate: fresh processes as often as the device's noise asks for.
//
// What makes two equal kernels differ is, on a CPU, where code and memory lie, and only a new process lays them out anew: one pair a pair of processes. On a
// card it is where the buffers lie (an equal kernel's time ranges over 1 to 13%, two loads of one cubin differ by 0.01 to 0.07%), which binding again
// draws anew without another start; a proof is then spread over several processes (docs/decisions/0037-pairs-on-a-card.md).

#include <memory>
#include <string>

#include "tuner/measurement/measure.h"

namespace amdahl {

class FreshPairs {
 public:
  // The next pair of these arms, in the same processes as often as WorkerBackend::placements_a_process() says. `key` names the arms: pairs of others end
  // the processes. When it throws, they have ended.
  PairResult measure(const std::string& key, const Arm& incumbent, const Arm& challenger, const PairSettings& settings, Random& random);
  // Ends the processes: others need their memory.
  void end() { pair_.reset(); }

 private:
  std::string key_;
  std::unique_ptr<ArmPair> pair_;
  int measured_ = 0;  // with pair_
};

}  // namespace amdahl
