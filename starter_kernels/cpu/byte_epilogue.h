#pragma once
// The epilogue of sums of bytes on a vector along the last dimension of the output: integers, floats, and bytes again.

#include <optional>
#include <string>

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

// `RowValues row_values(const void* const* in, int64_t i0, …)`: what is one number along a row, computed once (reciprocals of scales …), and
// `finish_vector(Ints sum, const RowValues& row, const void* const* in, int64_t i0, …)`: Floats or Ints, which write_vector() stores (kernels/byte_vectors.h, which
// must precede). One index for each dimension of out[0], the last one the first lane's; extra inputs are in[base …]. Nothing where the program has an operation
// without such a form, or an operand that along the last dimension is neither side by side nor one number.
std::optional<std::string> emit_byte_epilogue(const Problem& problem, size_t base);

}  // namespace amdahl
