#pragma once
// The form of matmul whose problem declares "bf16": AMX tiles (cpu/matmul_bf16.cpp), with knobs of its own.

#include "starter_kernels/kernel_kind.h"

namespace amdahl {

// Why this product cannot be made of bfloat16 here, or "": it takes AMX, fp32 operands, one matrix B that is a constant.
std::string refused_in_bf16(const Problem& problem, const MachineInfo& machine);
// Of a problem that declares "bf16".
SearchSpace bf16_space(const Problem& problem);

}  // namespace amdahl
