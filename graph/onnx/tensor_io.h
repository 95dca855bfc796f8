#pragma once
// Tensors in files.

#include <string>

#include "graph/tensor.h"

namespace amdahl {

// Tensor files: .npy (v1-3, little endian, C order) and ONNX TensorProto .pb. Throws Error(kBadInput / kIo). bf16 is
// saved as f32, which NumPy has.
Tensor load_tensor(const std::string& path);
void save_npy(const Tensor& tensor, const std::string& path);

}  // namespace amdahl
