#pragma once
// State of the process that a kernel must leave to its caller as it was.

#include <array>
#include <cstdint>

namespace amdahl {

// Of this thread: MXCSR without its status flags (rounding mode, flush-to-zero, denormals-are-zero) and, above it, the x87 control word. 0
// on other architectures.
uint64_t float_control_word();

// What every signal does.
using SignalHandlers = std::array<const void*, 65>;
SignalHandlers signal_handlers();

}  // namespace amdahl
