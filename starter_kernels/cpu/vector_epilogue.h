#pragma once
// An epilogue on a vector of numbers along the last dimension instead of one: for the sums, products, clamps and activations that dense
// kernels end with. It takes the sums from registers; loops over scalars would pass them through memory, and leave it to the compiler how
// wide they become and how a clamp is done.

#include <optional>
#include <string>

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

// `static inline lanes vector_epilogue(lanes acc, const void* const* in, int64_t i0, … )` for a problem whose last dimension the lanes
// lie along: channel blocks [N, C/k, pixels, k] (formats.h), rows of a matrix. One index for each dimension, the last one the first
// lane's; extra inputs are in[base …]. cpu/kernels/scalar_math.h and vector_math.h must precede. Nothing where the program has an operation without such a form, or an operand
// that along the last dimension is neither side by side nor one number.
std::optional<std::string> emit_vector_epilogue(const Problem& problem, size_t base);

// `static inline void prefetch_extras(const void* const* in, int64_t i0, … )`: asks for the cache line of each extra input at that
// place, but for rows that all others share.
std::string emit_prefetch_extras(const Problem& problem, size_t base);

}  // namespace amdahl
