#pragma once
// One row of a softmax with its error bound: used by the Softmax family, Attention and the losses.

#include <span>

#include "graph/ops/eval_support.h"

namespace amdahl {

// x: scores, e: their bounds (empty: exact). y and y_bound may be empty when not wanted; y may not alias x.
// Relative to y_i an honest softmax errs by (|x_i - m| + E_p|x - m| + 3 sqrt(n) + 10) u; a perturbed row moves y_i by
// at most exp(e_i + log E_p[exp e]) - 1, which holds for bounds of any size.
void softmax_row(std::span<const double> x, std::span<const double> e, std::span<double> y, std::span<double> y_bound, const SumType& sums);

// The same for log(softmax(x)); the bound is absolute.
void log_softmax_row(std::span<const double> x, std::span<const double> e, std::span<double> y, std::span<double> y_bound, const SumType& sums);

// log(sum(exp(x))) and its bound.
struct ValueAndBound {
  double value, bound;
};
ValueAndBound log_sum_exp(std::span<const double> x, std::span<const double> e, const SumType& sums);

}  // namespace amdahl
