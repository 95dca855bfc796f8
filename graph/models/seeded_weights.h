#pragma once
// Random weights of the shipped architectures: the same seed gives the same bits on every machine and thread count.

#include <cstdint>

#include "graph/tensor.h"

namespace amdahl {

// fp32, mean 0 and the given standard deviation: the sum of four uniform words, bell-shaped within 3.5 deviations.
Tensor seeded_normals(Shape shape, uint64_t seed, double deviation);

// fp32 in [lo, hi), 65536 distinct values.
Tensor seeded_uniforms(Shape shape, uint64_t seed, double lo, double hi);

}  // namespace amdahl
