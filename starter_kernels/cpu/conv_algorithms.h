#pragma once
// Which texts can compute a convolution, and how each can be varied.

#include <vector>

#include "base/device_info.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"

namespace amdahl {

// Values of the knob ALGORITHM. Stored in sessions: append only.
enum ConvAlgorithm : int64_t {
  kConvGeneric = 0,           // any dtype, rank and strides; transposed
  kConvIm2col = 1,            // f32: implicit matrix product over row-major operands
  kConvDirect = 2,            // f32, vectors of pixels loaded where they lie
  kConvDepthwise = 3,         // f32, one input channel an output channel
  kConvWinograd = 4,          // f32, 3x3 with stride 1, constant weights; any formats
  kConvBlocked = 5,           // f32, output (and input, unless it is the first layer) in channel blocks
  kConvBlockedDepthwise = 6,  // the same, depthwise
  kConvStrassen = 7,          // 1x1 on channel blocks as a product of halves, where that is declared (matmul_strassen.h)
  kConvBytes = 8,             // u8 by i8, constant weights, row-major
  kConvBytesDepthwise = 9,    // u8 by i8, one input channel an output channel
  kConvTransposed = 10,       // f32, constant weights: a product for the outputs that lie a stride apart
};

// Those that compute this problem, the starter first. Empty: formats that no text takes.
std::vector<int64_t> conv_algorithms(const Problem& problem, const DeviceInfo& device);

// Whether F(2x2, 3x3) takes a third of the products away or more, a weight that is hardly used counted as the products that fit into
// its way from memory. A problem that declares it ("winograd_f23") starts as it. F(4x4, 3x3) is not meant: a
// judge that asks for exact sums of integers refuses it.
bool winograd_saves_a_third(const Problem& problem, const DeviceInfo& device);

SearchSpace conv_space(const Problem& problem, const DeviceInfo& device);

}  // namespace amdahl
