#pragma once
// How fast the error of an honest fp32 sum grows with its terms.

#include <span>

namespace amdahl {

// Error of the sum of `terms`, in any order, in units of `u`, as in SumType, of the sum S of their magnitudes. n terms whose roundings are independent are off by
// 3 sqrt(n) units (graph/op.h), and that is the least this returns. Two kinds of terms do not round independently:
//   equal terms round alike while the partial sum stays within one power of two: m of them are off by up to m units together, and groups of them add up as
//     independent terms do, 3 sqrt(sum of m^2). One number added n times reaches 0.375 n;
//   terms below a last place of the sum are lost, or rounded up, each time: those under 4 u S are off by all of themselves, or by a unit where that is less.
// No order of a sum exceeds n units. Terms of fp32 are equal when they are so in fp32: that is what kernels add.
double sum_growth(std::span<const double> terms, double u);

}  // namespace amdahl
