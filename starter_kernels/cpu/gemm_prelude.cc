#include "starter_kernels/cpu/gemm_prelude.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

std::string storage_type(DType dtype) {
  switch (dtype) {
    case DType::kF32: return "float";
    case DType::kF64: return "double";
    case DType::kF16: return "_Float16";
    case DType::kBF16: return "uint16_t";
    case DType::kI8: return "int8_t";
    case DType::kI16: return "int16_t";
    case DType::kI32: return "int32_t";
    case DType::kI64: return "int64_t";
    case DType::kU8: return "uint8_t";
    case DType::kU16: return "uint16_t";
    case DType::kU32: return "uint32_t";
    case DType::kU64: return "uint64_t";
    case DType::kBool: return "bool";
  }
  return "float";
}

std::string gemm_types(DType acc, const std::vector<DType>& operands) {
  std::string text = "#include <stddef.h>\n#include <stdint.h>\nextern \"C\" int omp_get_thread_num(void) noexcept;\n";
  text += fmt::format("typedef {} ACC;\n", storage_type(acc));
  text += "static inline ACC to_acc(ACC x) { return x; }\n";
  const std::set<DType> distinct(operands.begin(), operands.end());
  if (distinct.count(DType::kBF16))
    text +=
        "static inline ACC to_acc(uint16_t x) {\n"
        "  const uint32_t bits = static_cast<uint32_t>(x) << 16;\n"
        "  float f;\n  __builtin_memcpy(&f, &bits, 4);\n  return f;\n}\n";
  if (acc == DType::kI32)
    for (const DType dtype : distinct)
      if (dtype != acc && !is_half(dtype)) text += fmt::format("static inline ACC to_acc({} x) {{ return static_cast<ACC>(x); }}\n", storage_type(dtype));
  if (distinct.count(DType::kF16)) text += "static inline ACC to_acc(_Float16 x) { return x; }\n";
  if (operands.back() == DType::kBF16)  // round to nearest even; a NaN stays one
    text +=
        "static inline uint16_t from_acc(ACC x) {\n"
        "  uint32_t bits;\n  __builtin_memcpy(&bits, &x, 4);\n"
        "  if (x != x) return static_cast<uint16_t>(bits >> 16 | 64);\n"
        "  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);\n}\n";
  else text += fmt::format("static inline {0} from_acc(ACC x) {{ return static_cast<{0}>(x); }}\n", storage_type(operands.back()));
  return text;
}

std::string batch_indices(const Shape& shape, size_t dims) {
  std::string text;
  int64_t below = 1;
  for (size_t i = dims; i-- > 0;) {
    text = fmt::format(", batch / {} % {}", below, shape[i]) + text;
    below *= shape[i];
  }
  return text;
}

std::string batch_offset(const std::string& name, const Access& access, size_t dims) {
  std::string sum = "0";
  int64_t below = 1;
  for (size_t i = dims; i-- > 0;) {
    if (access.strides[i] != 0 && access.shape[i] > 1) sum += fmt::format(" + batch / {} % {} * {}", below, access.shape[i], access.strides[i]);
    below *= access.shape[i];
  }
  return fmt::format("static inline int64_t {}([[maybe_unused]] int64_t batch) {{ return {}; }}\n", name, sum);
}

std::string gemm_schedule(const Variant& variant) { return fmt::format("#define SCHEDULE {}\n", variant.knobs.at("TASKS") > 1 ? "dynamic, 1" : "static"); }

std::vector<int64_t> up_to(std::vector<int64_t> values, int64_t limit) {
  const auto covers = std::find_if(values.begin(), values.end(), [&](int64_t v) { return v >= limit; });
  if (covers != values.end()) values.erase(covers + 1, values.end());
  return values;
}

}  // namespace amdahl
