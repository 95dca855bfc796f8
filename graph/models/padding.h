#pragma once
// Inputs of one shape inside of larger ones: zeros are appended along every axis that differs.

#include "graph/tensor.h"

namespace amdahl {

// `shape` has the tensor's rank and is at least as large everywhere.
Tensor padded(const Tensor& tensor, const Shape& shape);
// The part that starts at 0 everywhere. `shape` has the tensor's rank and is at most as large.
Tensor cropped(const Tensor& tensor, const Shape& shape);

}  // namespace amdahl
