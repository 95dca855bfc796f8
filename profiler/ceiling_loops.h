#pragma once
// The loops that ceilings are measured with: arithmetic from registers, and streams over one buffer. Compiled into the
// program (so that `doctor` works without a compiler), each for its own instruction set; `needs` says which CPU runs it.

#include <cstdint>
#include <vector>

namespace amdahl {

// Multiply-adds on registers only. `run(n)` does n * flops operations on this thread.
struct ArithmeticLoop {
  const char* form;   // "scalar fp32", "512-bit fp32", "AMX bf16"
  const char* needs;  // feature of DeviceInfo::isa, "" when every CPU of this architecture runs it
  bool fp32;          // counts towards the fp32 ceiling
  double flops;       // an iteration
  void (*run)(int64_t iterations);
};

// Passes over `bytes` bytes at `data` (64-byte aligned, a multiple of 3 * 4096 bytes).
struct StreamLoop {
  const char* pattern;  // "read, 1 stream", "read, 4 streams", "triad"
  const char* needs;
  void (*run)(float* data, int64_t bytes, int64_t passes);
};

// All that this architecture has, narrow to wide; of rows with the same form or pattern, the last that the CPU can run
// counts.
const std::vector<ArithmeticLoop>& arithmetic_loops();
const std::vector<StreamLoop>& stream_loops();

}  // namespace amdahl
