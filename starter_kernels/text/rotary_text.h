#pragma once
// What backends' rotary_embedding share (starter_kernels/kinds/rotary_embedding.cc).

#include <string>

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

// `float load(value_t)`, `value_t store(float)`, `float load_cache(cache_t)`; `int64_t x_place(b, h, p)` and those of y, cos and sin, of a row's first
// element; `int64_t position_of(in, b, p)`: the row of the caches. POSITIONS is the backend's.
std::string rotary_functions_text(const Problem& problem);
// In memory all heads of a position come before the next position.
bool has_heads_inside(const Problem& problem);

}  // namespace amdahl
