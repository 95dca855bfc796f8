#pragma once
// Convolutions of half floats over channels last as products whose operands come to shared memory by copies of boxes (matmul_boxes.h): a row of the output is a
// window, and the boxes of one tap are the pixels that so many windows see with it, with zeros beside the image (cuTensorMapEncodeIm2col). Where a window is
// one pixel, input and weights are two matrices as they lie.

#include <optional>
#include <string>

#include "base/device_info.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"

namespace amdahl {

// [windows, K] x [K, channels of the output], with the convolution's epilogue; K are the taps, of each the input's channels up to a multiple of 64. nullopt
// for convolutions that are none: input or output not channels last, groups, other than two dimensions, input channels that are no multiple of 8, other types
// than half floats, an epilogue whose operands no strides walk window by window, windows further from the image than a tensor map can say.
std::optional<Problem> conv_as_product(const Problem& problem);

// Whether there is one, and the card multiplies and copies so.
bool has_conv_boxes_form(const Problem& problem, const DeviceInfo& card);

// Of a problem that has the form, which is then its only one: the knobs of kMatmulBoxesForm.
SearchSpace conv_boxes_space(const Problem& problem, const DeviceInfo& card);

// The whole text.
std::string conv_boxes_text(const Problem& problem, const Knobs& knobs, const DeviceInfo& card);

}  // namespace amdahl
