#pragma once
// A whole file as read-only memory. Weights are paged in when they are first used and never copied by us.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string_view>

namespace amdahl {

struct MappedFile {
  std::shared_ptr<const std::byte> data;  // page-aligned; keeps the mapping alive. Null for an empty file
  size_t size = 0;

  std::string_view text() const { return {reinterpret_cast<const char*>(data.get()), size}; }
};

// Throws std::system_error when the path cannot be opened, is not a regular file, or cannot be mapped.
MappedFile map_file(const std::filesystem::path& path);

}  // namespace amdahl
