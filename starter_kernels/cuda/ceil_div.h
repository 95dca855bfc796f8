#pragma once
// How many pieces of `size` cover `n`; neither is negative, `size` is not 0.

#include <cstdint>

namespace amdahl {

constexpr int64_t ceil_div(int64_t n, int64_t size) { return (n + size - 1) / size; }

}  // namespace amdahl
