#pragma once
// The form of matmul whose problem declares "strassen": seven products of halves (cpu/matmul_strassen.cpp), with knobs of its own.

#include "starter_kernels/kernel_kind.h"

namespace amdahl {

inline constexpr double kStrassenSaves = 1.0 / 8;  // of a product's multiplications

// Why this product cannot be made of halves, or "": it takes fp32, one matrix B that is a constant, and halves of some size.
std::string refused_in_halves(const Problem& problem);
// Of a problem that declares "strassen".
SearchSpace strassen_space(const Problem& problem, const MachineInfo& machine);

}  // namespace amdahl
