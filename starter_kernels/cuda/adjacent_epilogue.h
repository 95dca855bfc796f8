#pragma once
// Text of a product's epilogue at adjacent elements of a row: what it reads there comes with wide loads, and before the sums are known.

#include <cstdint>
#include <string>

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

// Behind cuda_epilogue() and the text of vector.h, for outputs of M x N whose other dimensions are `batch`:
//   struct Extras                                          what the extra inputs in[base …] hold at `adjacent` columns
//   Extras fetch_extras(in, b, m, n)                       at row m of matrix b, from column n on; beyond M and N nothing is read
//   out_t finish_of(sum, extras, j)                        the result at the j-th of them
std::string adjacent_epilogue_text(const Problem& problem, size_t base, const Shape& batch, int64_t adjacent);

}  // namespace amdahl
