#pragma once
// Products of u8 by i8 summed in int32, several steps of K in one instruction: matrices (matmul) and convolutions.

#include <string>
#include <vector>

#include "base/device_info.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {

bool multiplies_bytes(const Problem& problem);  // in[0] is u8 and in[1] i8

// How many steps may be in the four bytes of an element here, the starter's first: 4 with VNNI, and 2 in 16 bits on any x86-64.
std::vector<int64_t> byte_steps(const DeviceInfo& device);

// Macros that kernels/gemm_tile.h wants for so many.
std::string byte_products_text(int64_t steps, const DeviceInfo& device);

}  // namespace amdahl
