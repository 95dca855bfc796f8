#pragma once
// The texts that compute a convolution on an NVIDIA card, without the launch around them.

#include <cstdint>
#include <string>
#include <vector>

#include "base/device_info.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"

namespace amdahl {

// Values of the knob FORM. Stored in sessions: append only.
enum ConvForm : int64_t {
  kConvDirectForm = 0,         // any type, rank and strides; transposed
  kConvGemmForm = 1,           // implicit matrix product
  kConvDepthwiseForm = 2,      // one input channel an output channel
  kConvWgmmaForm = 3,          // implicit matrix product of half floats on tensor cores (wgmma.h)
  kConvBoxesForm = 4,          // the same over channels last, by copies of boxes (conv_boxes.h)
  kConvDepthwiseLastForm = 5,  // kConvDepthwiseForm over channels last (conv_depthwise_last.h)
  kConvImageForm = 6,          // few channels, row-major, to channels last (conv_image.h)
};

// Those that compute this problem, ascending; the last is the starter. None for operands in channel blocks, or channels last that no form knows.
std::vector<int64_t> conv_forms(const Problem& problem, const DeviceInfo& card);

// Of kConvWgmmaForm the whole text behind cuda_opening(); of others over row-major operands
// `void convolve(const void* const* in, out_t* out, sum_t* parts)`: this block's part, in[0] and in[1] being x and w and the others the epilogue's; and
// BLOCKS and THREADS, its launch. The implicit product with SPLIT_K > 1: grid.y is SPLIT_K, `parts` has O * POSITIONS sums of each, and
// `void add_parts(in, out, parts)` is a second launch. Knobs as ConvOnCuda (conv.cc) names them.
std::string conv_text(const Problem& problem, int64_t form, const Knobs& knobs);

}  // namespace amdahl
