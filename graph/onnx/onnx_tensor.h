#pragma once
// TensorProto to Tensor.

#include <optional>
#include <string>

#include "graph/onnx/external_data.h"
#include "graph/tensor.h"

namespace onnx {
class TensorProto;
}

namespace amdahl {

// ONNX's element type number, where this program computes with it.
std::optional<DType> dtype_of_onnx(int elem_type);
int onnx_of_dtype(DType dtype);
// "string", "float8e4m3fn", …: for refusals.
std::string onnx_type_name(int elem_type);

// Empties the proto's raw data as it copies, so that a model is held about once while it loads. Sets `refusal` (and
// returns an empty tensor) for element types that this program does not compute with. Throws Error(kBadModel) when data
// and shape disagree. `external` null: external data is an error.
Tensor read_tensor(onnx::TensorProto& proto, const std::string& name, ExternalData* external, std::string* refusal);

}  // namespace amdahl
