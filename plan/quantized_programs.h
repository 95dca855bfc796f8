#pragma once
// Programs that quantize more than once, or in the middle of other work.

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

// Numbers stay floats between two quantizations, and scales divide as reciprocals: QuantizeLinear allows for their rounding (graph/ops/quantization.cc). One that
// stands alone divides, as the standard says it. Two threads of an Emerald Rapids, in turns: resnet50's first convolution 555 us with reciprocals and 581 with
// divisions, its 1x1 from 64 to 256 channels with a residual 470 and 511.
PointwiseProgram shortened_quantizations(PointwiseProgram program);

}  // namespace amdahl
