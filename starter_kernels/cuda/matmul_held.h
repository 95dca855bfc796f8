#pragma once
// Products of few rows of half floats by a constant, on tensor cores, whose constant waits in registers for the rows: from compute capability 8.0 on.

#include <cstdint>
#include <string>

#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"

namespace amdahl {

// As has_rows_form() (matmul_rows.h), of rows that begin at multiples of 16 bytes; both operands of one half float type, B a constant.
bool has_held_form(const Problem& problem);

// HELD, beside the WARPS of the form for few rows (matmul_rows.h).
void add_held_knobs(SearchSpace& space);
int64_t starter_held_warps(const Problem& problem);
// Why the form cannot be launched with these knobs, or "".
std::string refused_held(const Knobs& knobs);

// Behind the sizes, types and functions that all forms have (matmul.cc).
std::string held_text(const Problem& problem);

}  // namespace amdahl
