#pragma once
// Depthwise convolution over channels last on an NVIDIA card: its own space of variants, and the text behind cuda_opening() (kernels/conv_depthwise_last.cu).

#include <string>

#include "base/device_info.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"

namespace amdahl {

// Channels last in and out, as many groups as channels, constant weights, a window of at most 64 taps in two dimensions.
bool has_depthwise_last_form(const Problem& problem);

// Of a problem that has the form, which is then its only one.
SearchSpace depthwise_last_space(const Problem& problem, const DeviceInfo& card);
std::string depthwise_last_text(const Problem& problem, const Knobs& knobs);

}  // namespace amdahl
