#pragma once
// Products of half floats on tensor cores: when, and how they can be varied.

#include <cstdint>
#include <string>

#include "base/device_info.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"

namespace amdahl {

// Values of the knob FORM. Stored in sessions: append only.
enum MatmulForm : int64_t {
  kMatmulForm = 0,       // any strides and types
  kMatmulMmaForm = 1,    // tensor cores
  kMatmulRowsForm = 2,   // few rows
  kMatmulWgmmaForm = 3,  // tensor cores that read shared memory (matmul_wgmma.h)
  kMatmulBoxesForm = 4,  // the same, of which one warp brings what the others multiply (matmul_boxes.h)
  kMatmulHeldForm = 5,   // few rows, whose constant is in registers before they are there (matmul_held.h)
};

// Whether both operands are of one half float type and each has a dimension that is adjacent in memory.
bool has_mma_form(const Problem& problem);

// What varies the form, but for SPLIT_K, which all forms have; and where that begins.
void add_mma_knobs(SearchSpace& space, const Problem& problem, const DeviceInfo& card);
int64_t starter_mma_split(const Problem& problem, const DeviceInfo& card);
// Why the form cannot be launched with these knobs, or "".
std::string refused_mma(const Problem& problem, const Knobs& knobs);

// Behind the sizes, types and functions that all forms have (matmul.cc).
std::string mma_text(const Problem& problem);

}  // namespace amdahl
