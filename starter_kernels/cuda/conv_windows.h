#pragma once
// A convolution whose output has channels last as a product: its rows are the windows, its columns the channels of the output.

#include <optional>
#include <string>

#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/sliding_window.h"

namespace amdahl {

inline constexpr size_t kWindowH = 1, kWindowW = 2;  // of SlidingWindow::Sizes

// A matmul problem with the convolution's epilogue and output, [windows, channels]; in[0] and in[1] are the convolution's own, for the caller to say what they
// are as matrices. nullopt where the output is not channels last, the types are not one half float type, there are groups or other than two dimensions, or no
// strides walk an operand of the epilogue window by window.
std::optional<Problem> product_by_windows(const Problem& conv);

// CHANNELS, IMAGES, IN_W …, OUT_W …, TAPS_W …, STEP_W …, DILATION_W … and PAD_W …: sizes of a two-dimensional convolution under names that a product's text
// does not have.
std::string window_sizes_text(const SlidingWindow& geometry);

}  // namespace amdahl
