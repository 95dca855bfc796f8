#pragma once
// Products of half floats by a constant on cards of compute capability 9.0, whose tensor cores read shared memory: when, and how they can be varied.

#include <cstdint>
#include <string>

#include "base/device_info.h"
#include "starter_kernels/cuda/wgmma.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"

namespace amdahl {

// Whether the card has them (sm_90a), both operands are of one half float type, rows of A are adjacent in memory and B is a constant, one for all of a batch.
bool has_wgmma_form(const Problem& problem, const DeviceInfo& card);

WgmmaStarter starter_wgmma(const Problem& problem, const DeviceInfo& card);

// Behind the sizes, types and functions that all forms have (matmul.cc).
std::string wgmma_text(const Problem& problem, const Knobs& knobs);

}  // namespace amdahl
