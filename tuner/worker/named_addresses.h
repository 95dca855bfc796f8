#pragma once
// Which buffer lies where in this process, for the report of a fault.

#include <cstddef>
#include <string>

namespace amdahl {

// At most 2048 at a time; what is beyond has no name. From one thread at a time.
void name_addresses(const std::byte* data, size_t bytes, const std::string& name);
void forget_addresses(const std::byte* data);

// Async-signal-safe: what lies at `address`, as "3 bytes past the end of 'gelu_out'", written to `fd`; nothing when no
// buffer is near.
void describe_address(const void* address, int fd);

}  // namespace amdahl
