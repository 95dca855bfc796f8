// Products of the oracle, whose parts have threads of their own.

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"
#include "graph/ops/eval_support.h"

namespace amdahl {
namespace {

struct Sizes {
  int64_t m, n, k;
};
// Tall, wide, too small for a second thread, with remainders, empty.
constexpr Sizes kSizes[] = {{2100, 37, 61}, {35, 2100, 61}, {130, 131, 257}, {3, 5, 7}, {1, 4099, 513}, {4099, 1, 513}, {0, 5, 3}, {5, 0, 3}, {4, 4, 0}};

std::vector<double> whole_numbers(int64_t count, uint64_t seed) {
  Random random(seed);
  std::vector<double> numbers(static_cast<size_t>(count));
  for (double& x : numbers) x = static_cast<double>(random.below(9)) - 4;  // sums are exact in any order
  return numbers;
}

double element(const std::vector<double>& a, const std::vector<double>& b, const Sizes& s, bool a_transposed, int64_t i, int64_t j) {
  double sum = 0;
  for (int64_t l = 0; l < s.k; ++l) sum += a[static_cast<size_t>(a_transposed ? l * s.m + i : i * s.k + l)] * b[static_cast<size_t>(l * s.n + j)];
  return sum;
}

void expect_product(const std::vector<double>& a, const std::vector<double>& b, const std::vector<double>& c, const Sizes& s, bool a_transposed,
                    double before) {
  for (int64_t i = 0; i < s.m; ++i)
    for (int64_t j = 0; j < s.n; ++j)
      ASSERT_EQ(c[static_cast<size_t>(i * s.n + j)], before + element(a, b, s, a_transposed, i, j))
          << s.m << " x " << s.n << " x " << s.k << " at " << i << ", " << j;
}

TEST(ParallelProduct, IsThatOfOneThread) {
  for (const Sizes& s : kSizes) {
    const std::vector<double> a = whole_numbers(s.m * s.k, 1), b = whole_numbers(s.k * s.n, 2);
    std::vector<double> c(static_cast<size_t>(s.m * s.n), 5.0);
    gemm_f64(s.m, s.n, s.k, a.data(), b.data(), c.data(), /*accumulate=*/true);
    expect_product(a, b, c, s, false, 5);
    gemm_f64(s.m, s.n, s.k, a.data(), b.data(), c.data());
    expect_product(a, b, c, s, false, 0);
    gemm_tn_f64(s.m, s.n, s.k, a.data(), b.data(), c.data());
    expect_product(a, b, c, s, true, 0);
  }
}

TEST(ParallelProduct, OfACallerThatIsParallelIsTheSame) {
  const Sizes s = kSizes[0];
  const std::vector<double> a = whole_numbers(s.m * s.k, 1), b = whole_numbers(s.k * s.n, 2);
  std::vector<std::vector<double>> c(3, std::vector<double>(static_cast<size_t>(s.m * s.n)));
#pragma omp parallel for num_threads(3)
  for (size_t i = 0; i < c.size(); ++i) gemm_f64(s.m, s.n, s.k, a.data(), b.data(), c[i].data());
  for (const std::vector<double>& one : c) expect_product(a, b, one, s, false, 0);
}

}  // namespace
}  // namespace amdahl
