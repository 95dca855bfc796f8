// Tensor files: NumPy's .npy and ONNX's TensorProto (as in ONNX test sets).

#include "graph/onnx/tensor_io.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <onnx/onnx_pb.h>

#include <bit>
#include <charconv>
#include <climits>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/error.h"
#include "graph/onnx/mapped_file.h"
#include "graph/onnx/onnx_tensor.h"

namespace amdahl {
namespace {

static_assert(std::endian::native == std::endian::little, "files hold little-endian numbers and are read in place");

constexpr std::string_view kMagic("\x93NUMPY", 6);

[[noreturn]] void bad(const std::string& message) { throw Error(ExitCode::kBadInput, message); }

struct TypeRow {
  std::string_view descr;  // without the byte order mark
  DType dtype;
};
constexpr TypeRow kTypes[] = {{"f4", DType::kF32}, {"f8", DType::kF64}, {"f2", DType::kF16}, {"i1", DType::kI8},  {"i2", DType::kI16}, {"i4", DType::kI32},
                              {"i8", DType::kI64}, {"u1", DType::kU8},  {"u2", DType::kU16}, {"u4", DType::kU32}, {"u8", DType::kU64}, {"b1", DType::kBool}};

// The text after 'key': in the header, a Python dict literal.
std::string_view field(std::string_view header, std::string_view key) {
  const size_t at = header.find(fmt::format("'{}'", key));
  if (at == std::string_view::npos) bad(fmt::format("its header has no '{}'", key));
  const size_t colon = header.find(':', at);
  if (colon == std::string_view::npos) bad("its header is damaged");
  const size_t start = header.find_first_not_of(' ', colon + 1);
  return start == std::string_view::npos ? "" : header.substr(start);
}

DType read_descr(std::string_view text) {
  const std::string_view descr = text.size() > 5 && text[0] == '\'' ? text.substr(1, text.find('\'', 1) - 1) : "";
  if (descr.starts_with('>')) bad("its numbers are big-endian; save it as little-endian (array.astype('<f4'))");
  for (const TypeRow& row : kTypes)
    if (descr.size() == 3 && descr.substr(1) == row.descr) return row.dtype;
  bad(fmt::format("element type {} is not supported; save an array of plain numbers or bool", text.substr(0, text.find(','))));
}

Shape read_shape(std::string_view text) {
  const size_t close = text.find(')');
  if (!text.starts_with('(') || close == std::string_view::npos) bad("its header has a damaged shape");
  Shape shape;
  const char* p = text.data() + 1;
  const char* end = text.data() + close;
  while (true) {
    while (p != end && (*p == ' ' || *p == ',')) ++p;
    if (p == end) return shape;
    int64_t d;
    const auto [next, error] = std::from_chars(p, end, d);
    if (error != std::errc() || d < 0) bad("its header has a damaged shape");
    shape.push_back(d);
    p = next;
  }
}

Tensor read_npy(const MappedFile& file) {
  const std::string_view bytes = file.text();
  if (bytes.size() < 12) bad("the file is cut off");
  const int major = static_cast<unsigned char>(bytes[6]);
  if (major < 1 || major > 3) bad(fmt::format(".npy version {} is not known", major));
  const size_t length_bytes = major == 1 ? 2 : 4;
  size_t length = 0;
  std::memcpy(&length, bytes.data() + 8, length_bytes);
  const size_t start = 8 + length_bytes;
  if (length > bytes.size() - start) bad("the file is cut off within its header");
  const std::string_view header = bytes.substr(start, length), data = bytes.substr(start + length);
  const DType dtype = read_descr(field(header, "descr"));
  const Shape shape = read_shape(field(header, "shape"));
  const bool one_dimensional = shape.size() < 2;  // both orders are the same then
  if (field(header, "fortran_order").starts_with("True") && !one_dimensional) bad("it is stored column by column; save np.ascontiguousarray(array)");
  if (!checked_numel(shape, dtype)) bad(fmt::format("its shape {} is impossible", to_string(shape)));
  const size_t needed = static_cast<size_t>(numel(shape)) * size_of(dtype);
  if (data.size() != needed) bad(fmt::format("shape {} {} needs {} bytes of data, the file has {}", to_string(shape), name_of(dtype), needed, data.size()));
  std::byte* copy;
  Tensor t = Tensor::allocate(dtype, shape, &copy);
  if (needed > 0) std::memcpy(copy, data.data(), needed);
  return t;
}

Tensor read_pb(const MappedFile& file) {
  onnx::TensorProto proto;
  if (file.size > INT_MAX || !proto.ParseFromArray(file.data.get(), static_cast<int>(file.size)) || !proto.has_data_type())
    bad("neither a .npy file nor an ONNX tensor (.pb), or it is cut off");
  std::string refusal;
  Tensor t = read_tensor(proto, proto.name(), nullptr, &refusal);
  if (!refusal.empty()) bad(refusal);
  return t;
}

}  // namespace

Tensor load_tensor(const std::string& path) {
  MappedFile file;
  try {
    file = map_file(path);
  } catch (const std::system_error& e) {
    throw Error(ExitCode::kIo, fmt::format("cannot read tensor file '{}': {}", path, e.code().message()));
  }
  try {
    if (file.size == 0) bad("the file is empty");
    return file.text().starts_with(kMagic) ? read_npy(file) : read_pb(file);
  } catch (const Error& e) {
    throw Error(ExitCode::kBadInput, fmt::format("tensor file '{}': {}", path, e.what()));
  }
}

void save_npy(const Tensor& tensor, const std::string& path) {
  if (tensor.dtype() == DType::kBF16)  // NumPy has no bfloat16; float32 holds every one
    return save_npy(from_doubles(DType::kF32, tensor.shape(), to_doubles(tensor)), path);
  std::string_view descr;
  for (const TypeRow& row : kTypes)
    if (row.dtype == tensor.dtype()) descr = row.descr;
  const bool one = tensor.shape().size() == 1;
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}", size_of(tensor.dtype()) == 1 ? '|' : '<', descr,
                                   fmt::join(tensor.shape(), ", "), one ? "," : "");
  constexpr size_t kPrefix = 10;                                            // magic, version 1.0, length
  header.append(63 - (kPrefix + header.size()) % 64, ' ').push_back('\n');  // data starts at a multiple of 64
  const auto length = static_cast<uint16_t>(header.size());
  std::ofstream out(path, std::ios::binary);
  out << kMagic << '\x01' << '\0';
  out.write(reinterpret_cast<const char*>(&length), 2);
  out << header;
  out.write(reinterpret_cast<const char*>(tensor.data()), static_cast<std::streamsize>(tensor.bytes()));
  out.close();
  if (!out) throw Error(ExitCode::kIo, fmt::format("cannot write '{}': is the folder there and writable, the disk full?", path));
}

}  // namespace amdahl
