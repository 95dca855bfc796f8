#include "graph/models/narrowed.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace amdahl {
namespace {

constexpr int64_t kOnnxFloat = 1, kOnnxHalf = 10, kOnnxBfloat16 = 16;  // TensorProto.DataType

// What is finite stays so: a mask of the lowest float is one of the lowest half, as who narrows a model writes it, and no infinity, which times zero is no number.
Tensor narrowed(const Tensor& t, DType dtype) {
  const double largest = dtype == DType::kF16 ? 65504 : 0x1.fep127;
  std::vector<double> values = to_doubles(t);
  for (double& v : values)
    if (std::isfinite(v)) v = std::clamp(v, -largest, largest);
  return from_doubles(dtype, t.shape(), values);
}

void narrow(Node& node, DType dtype) {
  for (auto& [name, attribute] : node.attributes) {
    if (auto* tensor = std::get_if<Tensor>(&attribute); tensor && tensor->dtype() == DType::kF32) attribute = narrowed(*tensor, dtype);
    else if (const auto* to = std::get_if<int64_t>(&attribute); to && name == "to" && *to == kOnnxFloat)
      attribute = dtype == DType::kF16 ? kOnnxHalf : kOnnxBfloat16;
  }
}

}  // namespace

void narrow_floats(Graph& graph, DType dtype) {
  for (Value& value : graph.values) {
    if (value.dtype != DType::kF32) continue;
    value.dtype = dtype;
    if (value.constant) value.constant = narrowed(*value.constant, dtype);
  }
  for (Node& node : graph.nodes) narrow(node, dtype);
}

}  // namespace amdahl
