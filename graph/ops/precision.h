#pragma once
// What one honest operation may be off by, by element type.

#include <cmath>

#include "graph/op.h"

namespace amdahl {

// Half-precision operators compute in fp32 and round once when they store; so `u` is fp32's for them and `store` comes on top.
struct Precision {
  double u;         // unit roundoff of the arithmetic
  double store;     // relative rounding of the store beyond `u`
  double tiny;      // absolute error where a result can underflow: flushing below the smallest normal is honest
  double overflow;  // magnitudes from here on round to infinity
};

// f64: the oracle computes in the same type, so its own rounding is added to the kernel's.
inline Precision precision_of(DType dtype) {
  switch (dtype) {
    case DType::kF64: return {0x1.0p-52, 0, 0x1.0p-1022, HUGE_VAL};
    case DType::kF16: return {kU32, 0x1.0p-11, 0x1.0p-24, 65520.0};
    case DType::kBF16: return {kU32, 0x1.0p-8, 0x1.0p-126, 0x1.ffp+127};
    default: return {kU32, 0, 0x1.0p-126, 0x1.ffffffp+127};
  }
}

// The largest finite number of a float type.
inline double largest_of(DType dtype) {
  switch (dtype) {
    case DType::kF64: return 0x1.fffffffffffffp+1023;
    case DType::kF16: return 65504.0;
    case DType::kBF16: return 0x1.fep+127;
    default: return 0x1.fffffep+127;
  }
}

// A value that one honest order of arithmetic makes infinite or NaN, and another does not. What is NaN in each is left.
inline void leave_open(double& value, double& bound) {
  if (std::isnan(value)) return;
  value = 1;  // not zero: by an infinity it makes no NaN, and what a product of both is, is open too
  bound = HUGE_VAL;
}

// The bound of an operator's result: `moved` is how far the inputs' bounds can move it, `own` what the operation itself
// adds. A result that certainly overflows its type becomes infinity (as in a run), or open inside a window; one that may, is unbounded.
// The oracle's own doubles overflow where those of a kernel do: an infinity of `finite` operands.
struct Finish {
  explicit Finish(const RefTensor& out) : p(precision_of(out.dtype)), is_inside(out.is_inside) {}

  double value(double z) const {
    if (z >= p.overflow) return HUGE_VAL;
    return z <= -p.overflow ? -HUGE_VAL : z;
  }
  void bounded(double& z, double& bound, double moved, double own, bool finite) const {
    if (is_inside && finite && std::isinf(z)) return leave_open(z, bound);
    if (std::isnan(z) || (std::isinf(z) && moved == 0)) {
      bound = 0;
      return;
    }
    if (std::isnan(moved) || std::isnan(own)) {  // an open operand times zero, or beside an infinity
      bound = HUGE_VAL;
      return;
    }
    const double a = std::fabs(z);
    // Rounding a value below the threshold does not overflow, so the last rounding is no part of this test.
    const double reach = moved + std::fmax(0.0, own - 1.0625 * p.u * a);
    if (a + reach >= p.overflow || std::isinf(a)) {
      const bool certain = a - reach >= p.overflow;
      if (certain && is_inside && a < HUGE_VAL) return leave_open(z, bound);
      if (certain) z = std::copysign(HUGE_VAL, z);
      bound = certain ? 0 : HUGE_VAL;
      return;
    }
    bound = moved + own + p.store * (a + moved) + (p.store > 0 && own > 0 ? 0.5 * p.tiny : 0);
  }

  Precision p;
  bool is_inside;
};

}  // namespace amdahl
