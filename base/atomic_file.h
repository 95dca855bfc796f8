#pragma once
// A file that is there whole or not at all: whoever opens it never sees half of it, also when this program is killed.

#include <string>
#include <string_view>

namespace amdahl {

// Writes `bytes` to a temporary file beside `path`, to the disk, and renames it. An older file of that name stays as it was
// until then. Throws Error(kIo); nothing is left behind.
void write_atomically(const std::string& path, std::string_view bytes);

}  // namespace amdahl
