#pragma once
// The confinement of a worker whose kernels run on a card. No code of a candidate's runs in this process, which reads a cubin and talks to the driver; what
// a mistake of ours, or the driver's, might still be led to is refused: programs, other processes, the network, and files for writing.

#include "tuner/worker/sandbox.h"

namespace amdahl {

class CudaConfinement : public Sandbox {
 public:
  // Address space says nothing of memory here: the driver reserves what all cards of the machine have.
  void limit(int64_t memory_bytes) override;
  void enter(const std::vector<std::string>& artifacts) override;
  void seal(int channel_in, int channel_out, bool clock) override;
};

}  // namespace amdahl
