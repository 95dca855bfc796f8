#pragma once
// The checksum that an exported library computes of its weights when it loads them. There is one text of it, which exports carry.

#include <cstddef>
#include <cstdint>
#include <string>

namespace amdahl {

uint64_t weights_hash(const void* data, size_t bytes);
uint64_t weights_hash_of_file(const std::string& path);  // throws Error(kIo)

}  // namespace amdahl
