#pragma once
// The pieces of text that the CPU's kernels begin with.

#include <string>

#include "base/device_info.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"

namespace amdahl {

// GCC keeps to 256-bit vectors on many CPUs with 512-bit units; for kernels that compute much (exp, erf) 512 is faster.
Knob vector_bits_knob(const DeviceInfo& device);
std::string vector_bits_text(const Knobs& knobs);

// streaming.h when the knob STREAM is set, else an empty stream_fence().
std::string streaming_text(const Knobs& knobs);

// inputs.h, for so many operands.
std::string inputs_text(const Problem& problem);

// The usual opening of a kernel text: vector width, scalar functions, THREADS.
std::string opening_text(const Variant& variant);

}  // namespace amdahl
