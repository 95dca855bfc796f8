#pragma once
// The textbook tests that other tools decide by, and intervals for what is counted.

#include <vector>

namespace amdahl::trust {

double mean(const std::vector<double>& x);
double deviation(const std::vector<double>& x);         // of a sample, n - 1
double robust_deviation(const std::vector<double>& x);  // 1.4826 times the median distance from the median

// P(T > t) of Student's distribution.
double student_tail(double t, double degrees);
double student_quantile(double tail, double degrees);  // t with that tail

// Two-sided p of Welch's test that both means are equal.
double welch_p(const std::vector<double>& a, const std::vector<double>& b);
// Two-sided p of the paired test that the mean is zero.
double paired_p(const std::vector<double>& differences);
// Two-sided p of the Mann-Whitney test, exact; for samples of some ten values. Ties count half.
double mann_whitney_p(const std::vector<double>& a, const std::vector<double>& b);

// 95% interval of a share after `hits` of `n` (Clopper and Pearson 1934).
struct Share {
  int hits = 0, n = 0;
  double lo = 0, hi = 1;
};
Share share_of(int hits, int n);
// With 95% the share is at most this; after no hit, about 3 / n.
double upper_bound(int hits, int n);

}  // namespace amdahl::trust
