#pragma once
// Wide loads and stores of an operand.

#include <cstddef>
#include <cstdint>

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

// Numbers along dimension d that one load or store takes, 16 bytes of them at most, each of which lies wholly inside the operand: 1 where they are not
// adjacent. Memory of a card begins on 64 bytes.
int64_t vector_along(const Access& a, size_t d);

}  // namespace amdahl
