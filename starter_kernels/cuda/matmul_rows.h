#pragma once
// Products of few rows, whose time is that of reading B: when, and how they can be varied.

#include <cstdint>
#include <string>

#include "base/device_info.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"

namespace amdahl {

// Whether A has one to eight rows and one matrix, and B a dimension that is adjacent in memory.
bool has_rows_form(const Problem& problem);

inline constexpr int64_t kStarterRowsWarps = 8;

// What varies the form, but for SPLIT_K, which all forms have; and where that begins. `warps`: where WARPS does.
void add_rows_knobs(SearchSpace& space, const Problem& problem, int64_t warps);
int64_t starter_rows_split(const Problem& problem, const DeviceInfo& card);

// Behind the sizes, types and functions that all forms have (matmul.cc).
std::string rows_text(const Problem& problem);

}  // namespace amdahl
