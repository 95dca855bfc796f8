#pragma once
// What a worker takes away from itself around the loading of a candidate's code: limit(), enter(), seal(), each once and in this order. What must
// stay allowed is the backend's to know: the processor's kernels need memory and threads, another device's driver calls of its own and more address
// space than there is memory.

#include <cstdint>
#include <string>
#include <vector>

namespace amdahl {

class Confinement {
 public:
  virtual ~Confinement() = default;

  // Dies with its parent, no core files, at most `memory_bytes` of memory of its own where that can be said (0: unlimited), few descriptors, no
  // capabilities, and a handler that says on stderr what a fault touched before it dies of it.
  virtual void limit(int64_t memory_bytes) = 0;

  // Before any other thread exists, and before a candidate's artifact is loaded. Files: only the system's libraries and `artifacts` can be
  // read, where the kernel can say so. System calls: what a loader needs. No memory is ever both writable and
  // executable from here on, nor becomes executable that was not mapped so from a library: code stays what was judged.
  // Throws Error(kInternal) when the kernel refuses.
  virtual void enter(const std::vector<std::string>& artifacts) = 0;

  // After a candidate's constructors have run, on every thread: left is what computing needs, and the conversation with the supervisor over
  // `channel_in` and `channel_out`. Anything else kills the process (SIGSYS): nothing may be opened or asked of the system, no signal be caught, no
  // other process or limit be named. Without `clock` there is none, whatever way code looks for it.
  // Throws Error(kInternal) when the kernel refuses.
  virtual void seal(int channel_in, int channel_out, bool clock) = 0;
};

}  // namespace amdahl
