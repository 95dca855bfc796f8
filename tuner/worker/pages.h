#pragma once
// Operands end or begin where a page does; what is left of their pages is filled with bytes that nobody else writes.

#include <cstddef>

namespace amdahl {

inline constexpr size_t kPage = 4096;
inline constexpr std::byte kSlack{0xA5};

inline size_t up(size_t n, size_t to) { return (n + to - 1) / to * to; }

}  // namespace amdahl
