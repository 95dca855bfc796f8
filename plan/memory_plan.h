#pragma once
// Where temporaries live in one arena: buffers whose lifetimes do not overlap share memory.
//
// Offsets are assigned largest buffer first, each at the lowest address free during its lifetime (greedy by size, as in
// Pisarchyk & Lee 2020, "Efficient memory management for deep neural net inference"): within a few percent of the lower
// bound on feed-forward networks, and simple.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace amdahl {

struct Lifetime {
  size_t bytes = 0;
  int first = 0, last = 0;  // call numbers, both inclusive
};

// Offsets, 64-byte aligned; *arena_bytes is the arena's size.
std::vector<int64_t> assign_offsets(const std::vector<Lifetime>& lifetimes, size_t* arena_bytes);

}  // namespace amdahl
