#pragma once
// What the evaluators of the linear, convolution, normalization, reduction and attention families share.

#include <cmath>
#include <functional>
#include <span>

#include "graph/op.h"
#include "graph/ops/precision.h"

namespace amdahl {

// Relative growth of an honest dot product of k terms, in a type of unit roundoff u (docs/trust.md).
inline double dot_growth(int64_t k, double u = kU32) { return (3.0 * std::sqrt(static_cast<double>(k)) + 4.0) * u; }

// Starting threads costs microseconds when all is well and milliseconds on a busy machine: small tensors go without.
inline bool worth_threads(int64_t elements) { return elements > (1 << 15); }

// Smallest normal fp32: honest kernels may flush below it.
inline constexpr double kFlush = 0x1.0p-126;

// Distance between neighbouring denormal numbers of fp32: what a product that underflows rounds to.
inline constexpr double kDenormalStep = 0x1.0p-149;

// From this magnitude on fp32 has no number. Half floats are summed in fp32, doubles in their own type.
inline constexpr double kBeyondF32 = 0x1.ffffffp+127;

// The type that an operator sums in. The oracle sums doubles in the same type, so its own rounding and underflow are added to the kernel's; where it overflows,
// so may a kernel: its own sum is infinite there, and that is from `beyond` on.
struct SumType {
  double u = kU32;                // unit roundoff
  double flush = kFlush;          // the smallest normal number: honest kernels may flush below it
  double step = kDenormalStep;    // what a product that underflows may be off by
  double beyond = kBeyondF32;     // from this magnitude on there is no number
  double least_root = 0x1.0p-50;  // numbers from here on have squares of which none that matters underflows
  double most_root = 0x1.0p+64;   // and from here on have none
};
inline SumType sum_type(DType dtype) {
  return dtype == DType::kF64 ? SumType{0x1.0p-52, 0x1.0p-1022, 0x1.0p-1073, HUGE_VAL, 0x1.0p-490, 0x1.0p+511} : SumType{};
}

// A sum of terms whose finite magnitudes come to `magnitude`: open where partial sums may be infinite, from `beyond` on. Compensated sums are NaN from there.
// What is NaN in every order is left, but in doubles, where the oracle's own partial sums may have been infinite.
inline void settle_sum(double& value, double& bound, double magnitude, double beyond) {
  if (magnitude < beyond) return;
  if (beyond == HUGE_VAL) value = 1;
  leave_open(value, bound);
}

// Output i with room for its values, and bounds when they are asked for (all zero).
RefTensor& float_output(EvalContext& context, size_t i);

// Whether floats with a bound decided some of its elements.
bool is_uncertain(const RefTensor& integers);

// Last step of an evaluator. Adds the rounding of a 16-bit store, makes infinite what certainly overflows the type, and
// makes bounds usable where arithmetic on infinities left none: NaN must be met exactly (0), and so must an infinity, unless it is one of `sums`: a
// compensated one is NaN then (its bound is infinite, and no finite number will do). A finite value that may overflow, or whose bound is
// indefinite, accepts anything.
void finish_bounds(RefTensor& out, bool sums = true);

// Refuses when an input is not a float of the same type as input 0 (several operators define integer forms that no model
// here uses).
void require_float(const InferContext& context, size_t i);

// out = f(a, b) + c for an f that is linear in a and in b, every output element a sum of at most `terms` products. c may be
// null: no addend.
using Bilinear = std::function<void(const double* a, const double* b, const double* c, double* out)>;

struct BilinearOperand {
  std::span<const double> value;
  std::span<const double> bound;  // empty: exact

  BilinearOperand() = default;
  BilinearOperand(const RefTensor& t) : value(t.value), bound(t.bound) {}  // NOLINT: the natural conversion
  BilinearOperand(std::span<const double> v, std::span<const double> b) : value(v), bound(b) {}
};

// Evaluates `f` and its running error bound with at most three calls of f, whatever f is:
//   value = f(a, b, c),   bound = (1 + g) f(|a|+ea, |b|+eb, |c|+ec) - f(|a|, |b|, |c|),   g = dot_growth(terms), or `terms` units where all products are equal
// which is g * sum|ab| plus the propagated sum(|a|eb + |b|ea + ea eb), without a term dropped, and what terms lose that underflow. `rounding`: EvalContext's
// products.rounding r; 1 + g becomes (1 + g)(1 + r)^2. Sums that may leave the type are settled as above.
// `bound` null: not wanted. Both outputs hold `size` elements.
void bounded_bilinear(const Bilinear& f, BilinearOperand a, BilinearOperand b, BilinearOperand c, int64_t terms, double rounding, const SumType& sums,
                      int64_t size, double* value, double* bound);

// What `shares` of sums of `of` numbers weigh: kernels that divide after they have summed up have as many times as much to sum. After bounded_bilinear, which left
// `value` and `bound`.
void settle_undivided(const Bilinear& f, std::span<const double> shares, std::span<const double> weighed, int64_t of, const SumType& sums, int64_t size,
                      double* value, double* bound);

// C (m x n) = A (m x k) * B (k x n), all row-major and dense; with `accumulate` C += A * B.
// The cols x rows transpose of a rows x cols matrix; empty (no bounds) of empty.
std::vector<double> transposed(std::span<const double> x, int64_t rows, int64_t cols);

void gemm_f64(int64_t m, int64_t n, int64_t k, const double* a, const double* b, double* c, bool accumulate = false);
// C (m x n) = A (k x m) transposed * B (k x n).
void gemm_tn_f64(int64_t m, int64_t n, int64_t k, const double* a, const double* b, double* c);

}  // namespace amdahl
