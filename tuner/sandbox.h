#pragma once
// What the worker takes away from itself before it loads a candidate's code.

#include <cstdint>

namespace amdahl {

// Dies with its parent, no core files, at most `memory_bytes` of address space (0: unlimited), few descriptors, and a
// handler that says on stderr what a fault touched before it dies of it.
void limit_process(int64_t memory_bytes);

// A seccomp filter: reading files, memory and threads are allowed; fork, exec, sockets, ptrace, signals to others and
// opening a file for writing kill the process (SIGSYS); everything else fails with EPERM. Throws Error(kInternal) when the
// kernel refuses.
void enter_sandbox();

// MXCSR without its status flags: rounding mode, flush-to-zero, denormals-are-zero. 0 on other architectures.
uint32_t float_control_word();

}  // namespace amdahl
