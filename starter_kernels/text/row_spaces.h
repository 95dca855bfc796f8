#pragma once
// The index spaces of the kinds that fold rows. Their operands: problem.in, then problem.out (of reduce and softmax its only one).

#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/text/row_space.h"

namespace amdahl {

RowSpace softmax_rows(const Problem& problem);
RowSpace reduce_rows(const Problem& problem);
RowSpace normalization_rows(const Problem& problem, bool has_column_mode);

}  // namespace amdahl
