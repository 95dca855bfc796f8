#pragma once
// A quantized operator is an integer sum and what makes numbers of it: scales, a bias, an activation, the next quantization. A file says so in one node
// (QLinearConv) or in several around one (DequantizeLinear, Conv, QuantizeLinear), and everybody computes it in one kernel: so does the starter.

#include "plan/plan.h"

namespace amdahl {

// Products and convolutions of bytes take the steps that finish their sums as epilogue, up to a QuantizeLinear.
void finish_integer_sums(const Graph& graph, const Target& target, Plan& plan);

}  // namespace amdahl
