#pragma once
// A sliding window's sizes as constants of a kernel's text.

#include <string>

#include "starter_kernels/kinds/sliding_window.h"

namespace amdahl {

// `constexpr int64_t N = …, C, O, G, ID, IH, IW, KD, …, OD, …, SD, …, DD, …, PAD_D, …, PAD_END_D, …;`
std::string window_constants(const SlidingWindow& g);

}  // namespace amdahl
