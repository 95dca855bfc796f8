#pragma once
// What seven products of halves may round (Strassen's recursion, cpu/matmul_strassen.cpp): an element of C is a sum of two to four products of
// sums of quadrants, so its error is relative to those, and not to the row of A and the column of B that it stands for.

#include "graph/ops/eval_support.h"

namespace amdahl {

// Adds to `bound` (m x n, row-major) for C = A (m x k) * B (k x n), both dense, halves cut at half of m, k and n rounded up to whole blocks of
// the last level, 2^levels a side:
//   g (sum over the products P of the element of (|sum of A| + e) (|sum of B| + e)),   1 + g = (1 + dot_growth(k / 2^levels) + (4^levels + 4)u) (1 + r)^2
// for the additions of P's steps, of A's and B's sums, and of at most 4^levels products to an element; `rounding` r: of those sums to a
// narrower type (EvalContext's products.rounding). With two levels these are the 49
// products of quarters; the seven of halves add 4u of their own products, for the roundings of the sums that the inner level takes apart again,
// which may cancel there. `bound` comes from bounded_bilinear with 0 terms: what the operands' own bounds
// become, and an addend's rounding, without that of the plain sums, which are not made. Infinite where a sum may leave the range of fp32: halves of opposite signs
// then cancel to NaN though the plain sum is finite. After Higham, "Exploiting fast matrix multiplication within the level 3 BLAS" (1990),
// with the probabilistic growth of graph/op.h.
void add_strassen_rounding(int levels, double rounding, int64_t m, int64_t n, int64_t k, BilinearOperand a, BilinearOperand b, double* bound);

}  // namespace amdahl
