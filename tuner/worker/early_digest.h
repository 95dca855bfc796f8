#pragma once
// A digest of some of an output's bytes, cheap enough to be taken the moment a call has returned: what is written after that, by a
// helper that was not waited for, changes it. The worker takes it then, the supervisor after a while.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace amdahl {

// Fills `to` with an output's bytes from `at` on.
using ReadAt = std::function<void(size_t at, std::span<std::byte> to)>;

// Of the last 4 KiB first, where a late helper is likeliest to be still at work, then of the first 4 KiB and of 64 cache lines at places drawn
// from `seed`: the same work whatever the size of the output.
uint64_t early_digest(size_t bytes, uint64_t seed, const ReadAt& read);
uint64_t early_digest(std::span<const std::byte> output, uint64_t seed);  // the same, of memory of this process

}  // namespace amdahl
