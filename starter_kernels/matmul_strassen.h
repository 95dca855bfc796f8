#pragma once
// The form of matmul whose problem declares "strassen" or "strassen2", or either in bfloat16: one or two levels of seven products of halves
// (cpu/matmul_strassen.cpp), with knobs of its own.

#include "starter_kernels/kernel_kind.h"

namespace amdahl {

// Why this product cannot be halved so many times, or "": it takes fp32, one matrix B that is a constant, and parts of some size.
std::string refused_in_halves(const Problem& problem, int levels);
// Of a problem that declares either.
SearchSpace strassen_space(const Problem& problem, const MachineInfo& machine);

}  // namespace amdahl
