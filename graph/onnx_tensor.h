#pragma once
// TensorProto to Tensor.

#include <optional>
#include <string>

#include "graph/external_data.h"
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

// More dimensions than any exporter writes, and as many as NumPy had for long. A shape may come out of a tensor of the file: without
// a limit it is as long as that.
inline constexpr size_t kMaxRank = 32;

// Number of elements, or nullopt when there are too many dimensions, one is negative or the tensor would not fit an address
// space (2^46 bytes).
std::optional<int64_t> checked_numel(const Shape& shape, DType dtype);

// Empties the proto's raw data as it copies, so that a model is held about once while it loads. Sets `refusal` (and
// returns an empty tensor) for element types that this program does not compute with. Throws Error(kBadModel) when data
// and shape disagree. `external` null: external data is an error.
Tensor read_tensor(onnx::TensorProto& proto, const std::string& name, ExternalData* external, std::string* refusal);

}  // namespace amdahl
