#include "graph/ops/strassen_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace amdahl {
namespace {

// A product: sums of two quadrants of A and of B (0: 11, 1: 12, 2: 21, 3: 22; sign 0: of the first one alone), and the quadrants of C that
// it is part of. Stated apart from the kernel's tables: this judges them.
struct Half {
  int first, second;
  double sign;
};
struct Product {
  Half a, b;
  bool in_c[4];
};
constexpr Product kProducts[] = {
    {{0, 3, 1}, {0, 3, 1}, {true, false, false, true}},   {{2, 3, 1}, {0, 0, 0}, {false, false, true, true}},
    {{0, 0, 0}, {1, 3, -1}, {false, true, false, true}},  {{3, 0, 0}, {2, 0, -1}, {true, false, true, false}},
    {{0, 1, 1}, {3, 0, 0}, {true, true, false, false}},   {{2, 0, -1}, {0, 1, 1}, {false, false, false, true}},
    {{1, 3, -1}, {2, 3, 1}, {true, false, false, false}},
};
constexpr double kLargest = std::numeric_limits<float>::max();

// Quadrants of a rows x cols matrix, those of the second half filled up with zeros.
class Quadrants {
 public:
  Quadrants(BilinearOperand x, int64_t rows, int64_t cols) : x_(x), rows_(rows), cols_(cols), half_rows_((rows + 1) / 2), half_cols_((cols + 1) / 2) {}

  // |first + sign second| and what both may be off by, row-major; infinite where fp32 has no such number.
  std::vector<double> sum(const Half& half) const {
    std::vector<double> out(static_cast<size_t>(half_rows_ * half_cols_));
#pragma omp parallel for if (worth_threads(half_rows_ * half_cols_))
    for (int64_t r = 0; r < half_rows_; ++r)
      for (int64_t c = 0; c < half_cols_; ++c) {
        double value = at(x_.value, half.first, r, c), error = at(x_.bound, half.first, r, c);
        if (half.sign != 0) value += half.sign * at(x_.value, half.second, r, c), error += at(x_.bound, half.second, r, c);
        const double most = std::fabs(value) + error;
        out[static_cast<size_t>(r * half_cols_ + c)] = most <= kLargest ? most : HUGE_VAL;
      }
    return out;
  }
  int64_t half_rows() const { return half_rows_; }
  int64_t half_cols() const { return half_cols_; }

 private:
  double at(std::span<const double> x, int quadrant, int64_t r, int64_t c) const {
    const int64_t row = quadrant / 2 * half_rows_ + r, col = quadrant % 2 * half_cols_ + c;
    return x.empty() || row >= rows_ || col >= cols_ ? 0 : x[static_cast<size_t>(row * cols_ + col)];
  }
  BilinearOperand x_;
  int64_t rows_, cols_, half_rows_, half_cols_;
};

}  // namespace

void add_strassen_rounding(int64_t m, int64_t n, int64_t k, BilinearOperand a, BilinearOperand b, double* bound) {
  const Quadrants of_a(a, m, k), of_b(b, k, n);
  const int64_t rows = of_a.half_rows(), cols = of_b.half_cols(), depth = of_a.half_cols();
  const double growth = dot_growth(depth) + 8 * kU32;
  std::vector<double> product(static_cast<size_t>(rows * cols));
  for (const Product& p : kProducts) {
    const std::vector<double> left = of_a.sum(p.a), right = of_b.sum(p.b);
    gemm_f64(rows, cols, depth, left.data(), right.data(), product.data());
    for (int quadrant = 0; quadrant < 4; ++quadrant) {
      if (!p.in_c[quadrant]) continue;
      const int64_t row0 = quadrant / 2 * rows, col0 = quadrant % 2 * cols;
      for (int64_t r = 0; r < std::min(rows, m - row0); ++r)
        for (int64_t c = 0; c < std::min(cols, n - col0); ++c) {
          const double sum = product[static_cast<size_t>(r * cols + c)];
          bound[(row0 + r) * n + col0 + c] += sum <= kLargest ? growth * sum : HUGE_VAL;
        }
    }
  }
}

}  // namespace amdahl
