#pragma once
// Element types and shapes.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace amdahl {

// Values are stored in sessions: append only.
enum class DType : uint8_t { kF32, kF64, kF16, kBF16, kI8, kI16, kI32, kI64, kU8, kU16, kU32, kU64, kBool };

size_t size_of(DType dtype);
std::string_view name_of(DType dtype);         // "f32", "i64", "bool", ...
DType dtype_from_name(std::string_view name);  // throws Error(kInternal) on an unknown name
inline bool is_float(DType d) { return d <= DType::kBF16; }
inline bool is_byte(DType d) { return d == DType::kU8 || d == DType::kI8; }     // of which sums are int32
inline bool is_half(DType d) { return d == DType::kF16 || d == DType::kBF16; }  // kept in memory so, computed on in fp32

// Dimensions, outermost first. All are >= 0 and known: symbolic ones are set when the model is loaded.
using Shape = std::vector<int64_t>;

int64_t numel(const Shape& shape);            // 1 for a scalar
Shape row_major_strides(const Shape& shape);  // in elements
std::string to_string(const Shape& shape);    // "[1, 128, 768]"
// ONNX (numpy) multidirectional broadcast. Throws std::invalid_argument when the shapes do not fit.
Shape broadcast(const Shape& a, const Shape& b);

}  // namespace amdahl
