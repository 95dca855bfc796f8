#pragma once
// Sliding windows as text: their sizes, and the epilogue of what they sum.

#include <string>
#include <string_view>
#include <vector>

#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/sliding_window.h"

namespace amdahl {

// Declarations of the sizes N, C, O, G and, in the dimensions D, H and W, of the input (ID, IH, IW), the window (KD …), the output (OD …), strides
// (SD …), dilations (DD …) and padding before and after (PAD_D …, PAD_END_D …): lines of `name = value` between `opening` and `closing`.
std::string window_text(const SlidingWindow& geometry, std::string_view opening, std::string_view closing);

// An epilogue at image n, output channel o and flat output pixel p: the problem whose epilogue() to emit, and that function's indices.
struct PixelEpilogue {
  Problem problem;
  std::string indices;
};
// Operands whose spatial dimensions fold into one index are read by p alone; if one's do not, all cost a division a point.
PixelEpilogue epilogue_of_pixels(const Problem& problem, const SlidingWindow& geometry);

// The names of the graph's own spatial indices out of three: {"h", "w"} of two dimensions.
std::vector<std::string> spatial_names(const std::vector<std::string>& three, int rank);

}  // namespace amdahl
