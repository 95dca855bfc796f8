#pragma once
// Algorithms that round more than the sum they stand for, by a constant of their own that a problem declares
// (declare_algorithm). The gate's bound is widened by that constant for the challenger that declares it, and for no other.

#include <vector>

#include "plan/plan.h"
#include "tuner/validation/reference.h"

namespace amdahl {

struct ErrorConstant {
  double factor = 1;  // of the bound of a plain sum
  // Along each side of an image: outputs within this distance share intermediate sums, so that each may round relative to
  // the largest of them.
  int64_t halo = 0;
  // Such a challenger is judged by the oracle's bounds with it, and must still be exact on integers (that a narrower type holds).
  ProductArithmetic products = {};
  // How many times the starter's error a challenger may have where the bound is wide (ratchet.h).
  double ratchet = 2;
  bool operator==(const ErrorConstant&) const = default;
  bool is_plain() const { return factor == 1 && halo == 0 && products == ProductArithmetic{}; }
};

// The largest among the steps. Throws Error(kInternal) for a declaration that nobody has given a constant.
ErrorConstant declared_constant(const std::vector<Step>& steps);

// Bits of the odd integers that such products by -1, 0 and 1 must get exactly: bfloat16 holds 8 of one, and of a sum of two or of none but one (a sum
// of two odd numbers is even); sums of two, three and four quarters leave 6.
int exact_bits(const ProductArithmetic& products);

// Exact outputs (bound 0 everywhere within reach) stay exact; near a value that is not finite, and for halves at it, nothing is judged but NaN.
// `nonfinite`: the same with NaN for every infinity of the inputs. What is NaN there depends on a value that is not finite, also where a ReLU made 0 of
// -inf: sums that neighbours, or halves, share are not finite either. Null: nothing is.
Expected with_halo(const Expected& expected, const ErrorConstant& constant, const Expected* nonfinite = nullptr);

}  // namespace amdahl
