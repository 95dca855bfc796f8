#include "starter_kernels/cpu/window_constants.h"

#include "starter_kernels/text/window_text.h"

namespace amdahl {

std::string window_constants(const SlidingWindow& g) { return window_text(g, "constexpr int64_t ", ";"); }

}  // namespace amdahl
