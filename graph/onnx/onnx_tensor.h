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

// Empties the proto's raw data as it copies, so that a model is held about once while it loads. Sets `refusal` (and
// returns an empty tensor) for element types that this program does not compute with. Throws Error(kBadModel) when data
// and shape disagree. `external` null: external data is an error.
Tensor read_tensor(onnx::TensorProto& proto, const std::string& name, ExternalData* external, std::string* refusal);

}  // namespace amdahl
