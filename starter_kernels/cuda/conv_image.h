#pragma once
// Convolutions of images that have few channels, row-major, to half floats with channels last, on tensor cores (kernels/conv_image.cu): what convolutional
// models begin with. From compute capability 8.0 on.

#include <string>

#include "base/device_info.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"

namespace amdahl {

// Fewer than 8 input channels, row-major; output channels last; what product_by_windows() (conv_windows.h) takes; windows of which
// two rows of 16 fit shared memory.
bool has_conv_image_form(const Problem& problem);

// Of a problem that has the form, which is then its only one.
SearchSpace conv_image_space(const Problem& problem, const DeviceInfo& card);

// The whole text.
std::string conv_image_text(const Problem& problem, const Knobs& knobs);

}  // namespace amdahl
