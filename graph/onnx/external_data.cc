#include "graph/onnx/external_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "base/error.h"
#include "base/printable.h"

namespace amdahl {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void bad(const std::string& message) { throw Error(ExitCode::kBadModel, message); }

// Each initializer of forty bytes may name the same gigabyte. Tied weights name theirs a few times, and small ones share more.
constexpr double kReadsOfAFile = 16, kFloorBytes = 0x1p26;

bool is_below(const fs::path& folder, const fs::path& file) {
  const auto [f, p] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return f == folder.end() && p != file.end();
}

}  // namespace

void ExternalData::count(File& file, const std::string& location, double bytes, bool copies) {
  const auto size = static_cast<double>(file.bytes.size);
  file.read += bytes;
  if (copies) file.copied += bytes;
  if (file.read > kReadsOfAFile * size + kFloorBytes || file.copied > size + kFloorBytes)
    bad(fmt::format("initializers read the {} bytes of external data file '{}' over and over; save the model again", file.bytes.size, shown(location)));
}

ExternalData::File& ExternalData::open(const std::string& tensor, const std::string& location) {
  const auto known = files_.find(location);
  if (known != files_.end()) return known->second;

  const fs::path relative(location);
  if (location.empty()) bad(fmt::format("initializer '{}' is external but names no file", tensor));
  if (location.find('\0') != std::string::npos || relative.is_absolute() || std::find(relative.begin(), relative.end(), "..") != relative.end())
    bad(
        fmt::format("initializer '{}' refers to '{}', outside the model's folder; this is refused: save the model again "
                    "with its external data beside it",
                    tensor, shown(location)));
  const fs::path folder = folder_.empty() ? fs::path(".") : folder_;
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  if (error) bad(fmt::format("cannot open the model's folder '{}': {}", folder.string(), error.message()));
  const fs::path file = fs::canonical(root / relative, error);
  if (error)
    bad(fmt::format("external data file '{}' of initializer '{}' is missing ({}): put it beside the model", shown((folder / relative).string()), tensor,
                    error.message()));
  if (!is_below(root, file))
    bad(
        fmt::format("external data file '{}' of initializer '{}' is a link that leaves the model's folder; this is "
                    "refused: copy the file into the folder",
                    shown((folder / relative).string()), tensor));
  try {
    return files_.emplace(location, File{map_file(file)}).first->second;
  } catch (const std::system_error& e) {
    bad(fmt::format("cannot read external data file '{}' of initializer '{}': {}", shown(file.string()), tensor, e.code().message()));
  }
}

Tensor ExternalData::read(const std::string& tensor, const std::string& location, int64_t offset, int64_t length, DType dtype, const Shape& shape) {
  const auto needed = static_cast<uint64_t>(numel(shape)) * size_of(dtype);
  if (offset < 0) bad(fmt::format("initializer '{}' has a negative offset into '{}'", tensor, shown(location)));
  if (length >= 0 && static_cast<uint64_t>(length) != needed)
    bad(fmt::format("initializer '{}' of shape {} {} needs {} bytes, but the model says that '{}' holds {} for it", tensor, to_string(shape), name_of(dtype),
                    needed, shown(location), length));
  File& opened = open(tensor, location);
  const MappedFile& file = opened.bytes;
  if (static_cast<uint64_t>(offset) > file.size || needed > file.size - static_cast<uint64_t>(offset))
    bad(
        fmt::format("external data file '{}' is too short: initializer '{}' needs {} bytes at offset {}, the file has {}; "
                    "fetch or export it again",
                    shown(location), tensor, needed, offset, file.size));
  const std::byte* start = file.data.get() + offset;
  const bool aligned = offset % static_cast<int64_t>(size_of(dtype)) == 0;
  count(opened, location, static_cast<double>(needed), !aligned || dtype == DType::kBool);  // bool may have to be made 0 and 1
  if (needed > 0 && aligned) return Tensor(dtype, shape, std::shared_ptr<const std::byte>(file.data, start));
  std::byte* copy;  // elements that straddle their natural alignment cannot be read in place
  Tensor t = Tensor::allocate(dtype, shape, &copy);
  if (needed > 0) std::memcpy(copy, start, needed);
  return t;
}

}  // namespace amdahl
