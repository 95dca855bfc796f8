#include "starter_kernels/cuda/vector_access.h"

#include <numeric>

namespace amdahl {

int64_t vector_along(const Access& a, size_t d) {
  if (a.strides[d] != 1) return 1;
  int64_t vector = std::gcd(std::gcd(16 / static_cast<int64_t>(size_of(a.dtype)), a.offset), a.shape[d]);
  for (size_t i = 0; i < a.shape.size(); ++i)
    if (i != d && a.shape[i] > 1) vector = std::gcd(vector, a.strides[i]);
  return vector;
}

}  // namespace amdahl
