#pragma once
// A model with its floats in a narrower type, as PyTorch's `model.half()` makes it before an export: weights, inputs, outputs and what lies between them.

#include "graph/graph.h"

namespace amdahl {

// `dtype`: kF16 or kBF16. Every fp32 value, attribute and Cast to fp32 becomes that type; weights are rounded to nearest even, what is too large becomes
// an infinity (masks of -1e9 do). Other types stay.
void narrow_floats(Graph& graph, DType dtype);

}  // namespace amdahl
