#include "graph/ops/elementwise.h"

#include <fmt/format.h>

#include "graph/onnx_types.h"

namespace amdahl {

DType dtype_from_onnx(int64_t data_type) {
  const std::optional<DType> dtype = dtype_of_onnx(data_type);
  if (!dtype) throw Refusal(fmt::format("element type {} of ONNX is not supported", onnx_type_name(data_type)));
  return *dtype;
}

double round_to(DType dtype, double v) {
  switch (dtype) {
    case DType::kF32: return static_cast<float>(v);
    case DType::kF16: return f16_to_f32(f64_to_f16(v));
    case DType::kBF16: return bf16_to_f32(f32_to_bf16(static_cast<float>(v)));
    default: return v;
  }
}

void infer_same(InferContext& c) { c.set_output(0, c.dtype(0), c.shape(0)); }

void infer_float(InferContext& c) {
  if (!is_float(c.dtype(0))) throw Refusal(fmt::format("element type {} is not supported", name_of(c.dtype(0))));
  infer_same(c);
}

void infer_float_broadcast(InferContext& c) {
  infer_float(c);
  infer_broadcast(c);
}

void infer_broadcast(InferContext& c) {
  Shape shape = c.shape(0);
  for (size_t i = 1; i < c.input_count(); ++i) {
    if (c.dtype(i) != c.dtype(0)) throw Refusal(fmt::format("inputs of types {} and {} do not mix", name_of(c.dtype(0)), name_of(c.dtype(i))));
    shape = broadcast(shape, c.shape(i));
  }
  c.set_output(0, c.dtype(0), shape);
}

void infer_compare(InferContext& c) {
  if (c.dtype(0) != c.dtype(1)) throw Refusal(fmt::format("inputs of types {} and {} do not compare", name_of(c.dtype(0)), name_of(c.dtype(1))));
  c.set_output(0, DType::kBool, broadcast(c.shape(0), c.shape(1)));
}

}  // namespace amdahl
