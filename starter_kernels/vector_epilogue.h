#pragma once
// The epilogue of a result in channel blocks, on a vector of channels instead of one number: for the sums, products and clamps
// that convolutions end with. Loops over scalars leave it to the compiler how wide they become and how a clamp is done.

#include <optional>
#include <string>

#include "starter_kernels/problem.h"

namespace amdahl {

// `static inline lanes vector_epilogue(lanes acc, const void* const* in, int64_t i0, int64_t i1, int64_t i2)` for a problem whose
// operands are [N, C/k, pixels, k] (formats.h); extra inputs are in[base …]. cpu/vector_math.h must precede. Nothing where the
// program has an operation without such a form, or an operand whose k channels are neither side by side nor one number.
std::optional<std::string> emit_vector_epilogue(const Problem& blocks, size_t base);

}  // namespace amdahl
