#pragma once
// Content hashes (XXH3, 128 bits, as 32 hex digits). Used for cache keys and signatures; not cryptographic.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace amdahl {

std::string hash_hex(std::string_view bytes);
std::string hash_hex(const void* data, size_t bytes);
uint64_t hash64(std::string_view bytes);

}  // namespace amdahl
