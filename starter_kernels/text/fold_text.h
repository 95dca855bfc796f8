#pragma once
// What the reduce kind does with the elements of a row, as scalar functions on its accumulator.

#include <string>

#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/reduce.h"

namespace amdahl {

// Expressions in acc_t a, b, the element `real x` and the row's `offset`; LOWEST, HIGHEST and COUNT, numbers of acc_t, are the backend's.
struct Fold {
  const char *start, *step, *merge, *result;
};
const Fold& fold_of(const ReduceParams& params);

// Sums of integers are exact in 64 bits; those of floats are of the rows' own type.
DType fold_type(const Problem& problem);
// What a mean divides by: of no integers by one.
int64_t fold_count(const Problem& problem, int64_t elements);
// `acc_t step(acc_t a, real x, acc_t offset)`, `acc_t merge(acc_t a, acc_t b)` and `real result(acc_t a, acc_t offset)`.
std::string fold_functions_text(const Fold& fold);

}  // namespace amdahl
