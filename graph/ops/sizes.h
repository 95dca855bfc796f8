#pragma once
// Arithmetic of sizes that a file gives: attributes and shape inputs may hold any 64 bits.

#include "graph/op.h"

namespace amdahl {

inline int64_t checked_sum(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_add_overflow(a, b, &r)) throw Refusal("a size overflows 64 bits");
  return r;
}

inline int64_t checked_product(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) throw Refusal("a size overflows 64 bits");
  return r;
}

// Truncates. NaN is refused too.
inline int64_t checked_size(double v) {
  if (!(v > -0x1p62 && v < 0x1p62)) throw Refusal("a size overflows 64 bits");
  return static_cast<int64_t>(v);
}

}  // namespace amdahl
