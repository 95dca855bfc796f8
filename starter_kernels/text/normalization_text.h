#pragma once
// What backends' layernorm and rmsnorm share (starter_kernels/kinds/normalization.h says what their operands are).

#include <string>

#include "starter_kernels/kinds/normalization.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {

// Which of problem.in they are, -1: absent; and the first extra input of the epilogue.
struct NormalizationInputs {
  int scale = -1, shift = -1;
  size_t epilogue = 0;

  static NormalizationInputs of(const Problem& problem);
};

// `T term(T v)`, of numbers and of vectors: what rmsnorm sums of an element, and `real inverse_of(real sum)`, the factor of a row. EPSILON, a
// number of `real`, is the backend's.
std::string divisor_text(NormalizationParams::Divisor divisor);

}  // namespace amdahl
