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

// Before any other thread exists, and before a candidate's library is loaded. Files: only system libraries and `libraries` can be
// read, where the kernel has Landlock (5.13). System calls (seccomp): what a loader needs. No memory is ever both writable and
// executable from here on, nor becomes executable that was not mapped so from a library: code stays what was judged.
// Throws Error(kInternal) when the kernel refuses the filter.
void enter_sandbox(const std::vector<std::string>& libraries);

// After constructors have run, on every thread: the list of what arithmetic needs (memory of its own, threads of its own, waiting for
// them, the conversation with the supervisor), with its arguments. Anything else kills the process (SIGSYS): nothing may be opened or
// asked of the system, no signal be caught, no other process or limit be named. To yield the processor does nothing. `channel_in`,
// `channel_out`: the descriptors of the conversation. Without `clock` there is none: neither the system's calls for it nor the pages that answer them
// without a call, whatever way code finds there.
void seal_sandbox(int channel_in, int channel_out, bool clock);

// MXCSR without its status flags (rounding mode, flush-to-zero, denormals-are-zero) and, above it, the x87 control word. 0
// on other architectures.
uint64_t float_control_word();

// What every signal does.
using SignalHandlers = std::array<const void*, 65>;
SignalHandlers signal_handlers();

}  // namespace amdahl
