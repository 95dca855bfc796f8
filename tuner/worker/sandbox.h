#pragma once
// The confinement of a worker whose kernels run on the processor: limits, Landlock (Linux 5.13) and two lists of system calls (seccomp).

#include "tuner/worker/confinement.h"

namespace amdahl {

class Sandbox : public Confinement {
 public:
  // Of address space: all memory that such a kernel can have is mapped.
  void limit(int64_t memory_bytes) override;
  void enter(const std::vector<std::string>& artifacts) override;
  // What is left is memory of its own, threads of its own, waiting for them, and the conversation, with their arguments. To yield the processor does
  // nothing. The clock goes with its system calls and with the pages that answer them without a call.
  void seal(int channel_in, int channel_out, bool clock) override;
};

}  // namespace amdahl
