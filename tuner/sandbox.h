#pragma once
// What the worker takes away from itself before and after it loads a candidate's code.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace amdahl {

// Dies with its parent, no core files, at most `memory_bytes` of address space (0: unlimited), few descriptors, no
// capabilities, and a handler that says on stderr what a fault touched before it dies of it.
void limit_process(int64_t memory_bytes);

// Before any other thread exists. Files: only system libraries and `libraries` can be read, where the kernel has Landlock
// (5.13). System calls (seccomp): reading files, memory and threads are allowed; fork, exec, sockets, ptrace, signals to
// others, other priorities and opening a file for writing kill the process (SIGSYS); everything else fails with EPERM.
// Throws Error(kInternal) when the kernel refuses the filter.
void enter_sandbox(const std::vector<std::string>& libraries);

// After constructors have run: to open anything at all kills the process, on every thread.
void forbid_opening();

// MXCSR without its status flags (rounding mode, flush-to-zero, denormals-are-zero) and, above it, the x87 control word. 0
// on other architectures.
uint64_t float_control_word();

// What every signal does.
using SignalHandlers = std::array<const void*, 65>;
SignalHandlers signal_handlers();

}  // namespace amdahl
