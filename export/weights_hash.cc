#include "export/weights_hash.h"

#include <fmt/format.h>

#include <system_error>

#include "base/error.h"
#include "export/kernel_templates/weights_hash.h.in"
#include "graph/onnx/mapped_file.h"

namespace amdahl {

uint64_t weights_hash(const void* data, size_t bytes) { return amdahl_weights_hash(static_cast<const unsigned char*>(data), bytes); }

uint64_t weights_hash_of_file(const std::string& path) {
  try {
    const MappedFile file = map_file(path);
    return weights_hash(file.data.get(), file.size);
  } catch (const std::system_error& error) {
    throw Error(ExitCode::kIo, fmt::format("cannot read '{}' again: {}", path, error.code().message()));
  }
}

}  // namespace amdahl
