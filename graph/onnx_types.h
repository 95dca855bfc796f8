#pragma once
// ONNX's numbers of element types (TensorProto.DataType).

#include <optional>
#include <string>

#include "graph/dtype.h"

namespace amdahl {

// Where this program computes with it.
std::optional<DType> dtype_of_onnx(int64_t elem_type);
int onnx_of_dtype(DType dtype);
// "string", "float8e4m3fn", …: for refusals.
std::string onnx_type_name(int64_t elem_type);

}  // namespace amdahl
