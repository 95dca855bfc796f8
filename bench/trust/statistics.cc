#include "bench/trust/statistics.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"

namespace amdahl::trust {
namespace {

// Continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method.
double beta_fraction(double a, double b, double x) {
  const auto not_zero = [](double v) { return std::abs(v) < 1e-300 ? 1e-300 : v; };
  double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), f = d;
  for (int m = 1; m < 500; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    for (double term : {even, odd}) {
      d = 1 / not_zero(1 + term * d);
      c = not_zero(1 + term / c);
      f *= c * d;
    }
    if (std::abs(c * d - 1) < 1e-15) break;
  }
  return f;
}

// I_x(a, b), regularised.
double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  // The fraction converges fast on one side of the mean only.
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

// Where an increasing function of [lo, hi] comes to `target`.
template <class F>
double solve(F f, double target, double lo, double hi) {
  for (int i = 0; i < 200; ++i) {
    const double middle = (lo + hi) / 2;
    (f(middle) < target ? lo : hi) = middle;
  }
  return (lo + hi) / 2;
}

}  // namespace

double mean(const std::vector<double>& x) {
  double sum = 0;
  for (double v : x) sum += v;
  return x.empty() ? 0 : sum / static_cast<double>(x.size());
}

double deviation(const std::vector<double>& x) {
  if (x.size() < 2) return 0;
  const double m = mean(x);
  double squares = 0;
  for (double v : x) squares += (v - m) * (v - m);
  return std::sqrt(squares / static_cast<double>(x.size() - 1));
}

double robust_deviation(const std::vector<double>& x) {
  const double m = median(x);
  std::vector<double> distances;
  for (double v : x) distances.push_back(std::abs(v - m));
  return 1.4826 * median(distances);
}

double student_tail(double t, double degrees) {
  const double half = incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t)) / 2;
  return t >= 0 ? half : 1 - half;
}

double student_quantile(double tail, double degrees) {
  return solve([&](double t) { return -student_tail(t, degrees); }, -tail, -1e4, 1e4);
}

double welch_p(const std::vector<double>& a, const std::vector<double>& b) {
  const double va = std::pow(deviation(a), 2) / static_cast<double>(a.size());
  const double vb = std::pow(deviation(b), 2) / static_cast<double>(b.size());
  if (va + vb == 0) return mean(a) == mean(b) ? 1 : 0;
  const double degrees = (va + vb) * (va + vb) / (va * va / static_cast<double>(a.size() - 1) + vb * vb / static_cast<double>(b.size() - 1));
  return 2 * student_tail(std::abs(mean(a) - mean(b)) / std::sqrt(va + vb), degrees);
}

double paired_p(const std::vector<double>& d) {
  const double error = deviation(d) / std::sqrt(static_cast<double>(d.size()));
  if (error == 0) return mean(d) == 0 ? 1 : 0;
  return 2 * student_tail(std::abs(mean(d)) / error, static_cast<double>(d.size() - 1));
}

double mann_whitney_p(const std::vector<double>& a, const std::vector<double>& b) {
  double u = 0;
  for (double x : a)
    for (double y : b) u += x > y ? 1 : x == y ? 0.5 : 0;
  const size_t m = a.size(), n = b.size();
  // ways[j][s]: orders of i values of a and j of b in which a's come after b's s times; i grows in the outer loop.
  std::vector<std::vector<double>> ways(n + 1, std::vector<double>(m * n + 1, 0));
  for (auto& row : ways) row[0] = 1;
  for (size_t i = 1; i <= m; ++i)
    for (size_t j = 1; j <= n; ++j)
      for (size_t s = m * n + 1; s-- > 0;) ways[j][s] = (s >= j ? ways[j][s - j] : 0) + ways[j - 1][s];
  const double extreme = std::min(u, static_cast<double>(m * n) - u);
  double all = 0, tail = 0;
  for (size_t s = 0; s <= m * n; ++s) {
    all += ways[n][s];
    if (static_cast<double>(s) <= extreme) tail += ways[n][s];
  }
  return std::min(1.0, 2 * tail / all);
}

Share share_of(int hits, int n) {
  Share s{hits, n, 0, 1};
  if (hits > 0) s.lo = solve([&](double p) { return incomplete_beta(hits, n - hits + 1, p); }, 0.025, 0, 1);
  if (hits < n) s.hi = solve([&](double p) { return incomplete_beta(hits + 1, n - hits, p); }, 0.975, 0, 1);
  return s;
}

double upper_bound(int hits, int n) {
  return hits < n ? solve([&](double p) { return incomplete_beta(hits + 1, n - hits, p); }, 0.95, 0, 1) : 1;
}

}  // namespace amdahl::trust
