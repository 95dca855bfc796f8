#pragma once
// The value of sums of products of bytes, and how far those may be off that floats decided.

#include <cmath>
#include <functional>
#include <vector>

#include "graph/ops/elementwise.h"

namespace amdahl {

// `multiply(a, b, y)`: the sums in float64, which holds them exactly.
inline void sum_integers(EvalContext& c, const std::function<void(const double*, const double*, double*)>& multiply) {
  const RefTensor &a = c.in(0), &b = c.in(1);
  RefTensor& out = c.out(0);
  const auto n = static_cast<size_t>(out.numel());
  const auto mapped = [](const RefTensor& t, auto f) {
    std::vector<double> v(t.ints.size());
    for (size_t i = 0; i < v.size(); ++i) v[i] = f(static_cast<double>(t.ints[i]), t.bound_at(static_cast<int64_t>(i)));
    return v;
  };
  const auto value = [](double x, double) { return x; };
  std::vector<double> sums(n);
  multiply(mapped(a, value).data(), mapped(b, value).data(), sums.data());
  out.ints.resize(n);
  for (size_t i = 0; i < n; ++i) out.ints[i] = wrap(out.dtype, static_cast<int64_t>(sums[i]));
  if (!c.bounds || (a.bound.empty() && b.bound.empty())) return;
  // No byte is off by more than all of its range, which also keeps what is not finite out of the products.
  const auto off = [](double, double bound) { return std::fmin(bound, 255.0); };
  const auto size = [](double x, double) { return std::fabs(x); };
  const auto most = [](double x, double bound) { return std::fabs(x) + std::fmin(bound, 255.0); };
  out.bound.assign(n, 0.0);
  const auto add = [&](const std::vector<double>& x, const std::vector<double>& y) {
    multiply(x.data(), y.data(), sums.data());
    for (size_t i = 0; i < n; ++i) out.bound[i] += sums[i];
  };
  if (!a.bound.empty()) add(mapped(a, off), mapped(b, most));
  if (!b.bound.empty()) add(mapped(a, size), mapped(b, off));
}

}  // namespace amdahl
