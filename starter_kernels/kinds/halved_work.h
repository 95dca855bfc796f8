#pragma once
// What a product costs whose problem declares "strassen" or "strassen2" (problem.h).

#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {

// `work` of the product as it is written, made that of its halves: fewer operations, more bytes of weights. As it was where none are declared.
void halve(const Problem& problem, Work& work);

}  // namespace amdahl
