#include "graph/onnx_types.h"

#include <fmt/format.h>

#include "base/error.h"

namespace amdahl {
namespace {

struct TypeRow {
  int number;
  const char* name;
  std::optional<DType> dtype;
};
// Numbers of onnx.proto's TensorProto.DataType, newer ones than this library's header included.
const TypeRow kTypes[] = {{1, "float", DType::kF32},   {2, "uint8", DType::kU8},
                          {3, "int8", DType::kI8},     {4, "uint16", DType::kU16},
                          {5, "int16", DType::kI16},   {6, "int32", DType::kI32},
                          {7, "int64", DType::kI64},   {8, "string", {}},
                          {9, "bool", DType::kBool},   {10, "float16", DType::kF16},
                          {11, "double", DType::kF64}, {12, "uint32", DType::kU32},
                          {13, "uint64", DType::kU64}, {14, "complex64", {}},
                          {15, "complex128", {}},      {16, "bfloat16", DType::kBF16},
                          {17, "float8e4m3fn", {}},    {18, "float8e4m3fnuz", {}},
                          {19, "float8e5m2", {}},      {20, "float8e5m2fnuz", {}},
                          {21, "uint4", {}},           {22, "int4", {}},
                          {23, "float4e2m1", {}},      {24, "float8e8m0", {}}};

}  // namespace

std::optional<DType> dtype_of_onnx(int64_t elem_type) {
  for (const TypeRow& row : kTypes)
    if (row.number == elem_type) return row.dtype;
  return std::nullopt;
}

int onnx_of_dtype(DType dtype) {
  for (const TypeRow& row : kTypes)
    if (row.dtype == dtype) return row.number;
  throw Error(ExitCode::kInternal, "element type unknown to ONNX");
}

std::string onnx_type_name(int64_t elem_type) {
  for (const TypeRow& row : kTypes)
    if (row.number == elem_type) return row.name;
  return fmt::format("number {}", elem_type);
}

}  // namespace amdahl
