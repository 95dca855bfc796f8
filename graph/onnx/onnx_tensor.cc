#include "graph/onnx/onnx_tensor.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/printable.h"
#include "graph/onnx_types.h"

namespace amdahl {
namespace {

[[noreturn]] void bad(const std::string& message) { throw Error(ExitCode::kBadModel, message); }

int64_t read_number(const std::string& text, const std::string& name, const char* key) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    bad(fmt::format("initializer '{}': external data has {} '{}', not a number of bytes", name, key, shown(text)));
  return value;
}

Tensor read_external(const onnx::TensorProto& proto, const std::string& name, ExternalData& external, DType dtype, const Shape& shape) {
  std::string location;
  int64_t offset = 0, length = -1;
  for (const auto& entry : proto.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = read_number(entry.value(), name, "offset");
    if (entry.key() == "length") length = read_number(entry.value(), name, "length");
  }
  return external.read(name, location, offset, length, dtype, shape);
}

// The typed fields hold one element an entry, narrow types in wider entries.
template <typename To, typename Field>
Tensor read_field(const Field& field, const std::string& name, DType dtype, const Shape& shape) {
  if (field.size() != numel(shape))
    bad(fmt::format("tensor '{}' of shape {} {} holds {} elements; the file is damaged", name, to_string(shape), name_of(dtype), field.size()));
  std::byte* raw;
  Tensor t = Tensor::allocate(dtype, shape, &raw);
  auto* out = reinterpret_cast<To*>(raw);
  for (const auto v : field) *out++ = static_cast<To>(v);
  return t;
}

Tensor read_fields(const onnx::TensorProto& p, const std::string& name, DType dtype, const Shape& shape) {
  switch (dtype) {
    case DType::kF32: return read_field<float>(p.float_data(), name, dtype, shape);
    case DType::kF64: return read_field<double>(p.double_data(), name, dtype, shape);
    case DType::kI64: return read_field<int64_t>(p.int64_data(), name, dtype, shape);
    case DType::kU64: return read_field<uint64_t>(p.uint64_data(), name, dtype, shape);
    case DType::kU32: return read_field<uint32_t>(p.uint64_data(), name, dtype, shape);
    case DType::kI32: return read_field<int32_t>(p.int32_data(), name, dtype, shape);
    case DType::kI16: return read_field<int16_t>(p.int32_data(), name, dtype, shape);
    case DType::kF16:
    case DType::kBF16:
    case DType::kU16: return read_field<uint16_t>(p.int32_data(), name, dtype, shape);
    case DType::kI8: return read_field<int8_t>(p.int32_data(), name, dtype, shape);
    case DType::kU8: return read_field<uint8_t>(p.int32_data(), name, dtype, shape);
    case DType::kBool: return read_field<bool>(p.int32_data(), name, dtype, shape);
  }
  throw Error(ExitCode::kInternal, "element type without a field");
}

// Kernels rely on 0 and 1; raw bytes of a file may hold anything.
Tensor normalized_bool(Tensor t) {
  if (t.dtype() != DType::kBool) return t;
  const auto bytes = t.as<uint8_t>();
  if (std::all_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b <= 1; })) return t;
  std::vector<uint8_t> clean(bytes.size());
  for (size_t i = 0; i < clean.size(); ++i) clean[i] = bytes[i] != 0;
  return Tensor::of(DType::kBool, t.shape(), clean);
}

}  // namespace

Tensor read_tensor(onnx::TensorProto& proto, const std::string& name, ExternalData* external, std::string* refusal) {
  const std::optional<DType> dtype = dtype_of_onnx(proto.data_type());
  if (!dtype) {
    *refusal = fmt::format("element type {} is not supported", onnx_type_name(proto.data_type()));
    return {};
  }
  const Shape shape(proto.dims().begin(), proto.dims().end());
  if (!checked_numel(shape, *dtype)) bad(fmt::format("tensor '{}' has the impossible shape {}; the file is damaged", name, to_string(shape)));
  if (proto.has_segment()) bad(fmt::format("tensor '{}' is stored in segments, which ONNX never defined", name));
  if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
    if (!external) bad(fmt::format("tensor '{}' is stored outside its file", name));
    return normalized_bool(read_external(proto, name, *external, *dtype, shape));
  }
  if (!proto.has_raw_data()) return read_fields(proto, name, *dtype, shape);
  const size_t needed = static_cast<size_t>(numel(shape)) * size_of(*dtype);
  if (proto.raw_data().size() != needed)
    bad(fmt::format("tensor '{}' of shape {} {} needs {} bytes and holds {}; the file is damaged", name, to_string(shape), name_of(*dtype), needed,
                    proto.raw_data().size()));
  std::byte* raw;
  Tensor t = Tensor::allocate(*dtype, shape, &raw);
  std::memcpy(raw, proto.raw_data().data(), needed);
  delete proto.release_raw_data();
  return normalized_bool(std::move(t));
}

}  // namespace amdahl
