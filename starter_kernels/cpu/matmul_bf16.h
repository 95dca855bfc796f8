#pragma once
// The form of matmul whose problem declares "bf16". On AMX: tiles, with knobs and a text of their own (cpu/kernels/matmul_bf16.cpp). On AVX512_BF16 alone:
// the blocked product of matmul.cpp on pairs of steps of K, with its knobs.

#include "base/device_info.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"

namespace amdahl {

// Why this product cannot be made of bfloat16 here, or "": it takes AVX512_BF16, fp32 operands, one matrix B that is a constant.
std::string refused_in_bf16(const Problem& problem, const DeviceInfo& device);
std::string refused_in_bf16(const DeviceInfo& device);  // for any product

// Which of the two forms a problem that declares "bf16" gets on a machine, and which one knobs are of.
bool multiplies_on_tiles(const DeviceInfo& device);
bool are_of_tiles(const Knobs& knobs);
// The knobs of tiles.
SearchSpace tile_space(const Problem& problem);

}  // namespace amdahl
