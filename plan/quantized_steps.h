#pragma once
// A quantized operator is an integer sum and what makes numbers of it: scales, a bias, an activation, the next quantization. A file says so in one node
// (QLinearAdd) or in several around one (DequantizeLinear, Add, QuantizeLinear), and everybody computes it in one kernel: so does the starter.

#include "plan/plan.h"

namespace amdahl {

// Pointwise steps between dequantizations and a quantization become one; products and convolutions of bytes take the steps that finish their sums as epilogue, up
// to a quantization, and an addition of bytes behind that. Plans without bytes stay as they are.
void join_quantized_steps(const Graph& graph, const Target& target, Plan& plan);

}  // namespace amdahl
