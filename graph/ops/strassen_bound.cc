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

struct Operand {
  std::vector<double> value, bound;  // row-major; value infinite where fp32 has no such number
};

// Quadrants of a rows x cols matrix of blocks of rows and columns, those of the second half filled up with zeros.
class Quadrants {
 public:
  Quadrants(BilinearOperand x, int64_t rows, int64_t cols, int64_t half_rows, int64_t half_cols)
      : x_(x), rows_(rows), cols_(cols), half_rows_(half_rows), half_cols_(half_cols) {}

  // first + sign second, and what both may be off by.
  Operand sum(const Half& half) const {
    const auto size = static_cast<size_t>(half_rows_ * half_cols_);
    Operand out{std::vector<double>(size), std::vector<double>(size)};
#pragma omp parallel for if (worth_threads(half_rows_ * half_cols_))
    for (int64_t r = 0; r < half_rows_; ++r)
      for (int64_t c = 0; c < half_cols_; ++c) {
        const auto i = static_cast<size_t>(r * half_cols_ + c);
        double value = at(x_.value, half.first, r, c), error = at(x_.bound, half.first, r, c);
        if (half.sign != 0) value += half.sign * at(x_.value, half.second, r, c), error += at(x_.bound, half.second, r, c);
        out.value[i] = std::fabs(value) + error <= kLargest ? value : HUGE_VAL;
        out.bound[i] = error;
      }
    return out;
  }

 private:
  double at(std::span<const double> x, int quadrant, int64_t r, int64_t c) const {
    const int64_t row = quadrant / 2 * half_rows_ + r, col = quadrant % 2 * half_cols_ + c;
    return x.empty() || row >= rows_ || col >= cols_ ? 0 : x[static_cast<size_t>(row * cols_ + col)];
  }
  BilinearOperand x_;
  int64_t rows_, cols_, half_rows_, half_cols_;
};

std::vector<double> largest(const Operand& x) {
  std::vector<double> out(x.value.size());
  for (size_t i = 0; i < out.size(); ++i) out[i] = std::fabs(x.value[i]) + x.bound[i];
  return out;
}

// Half of `size`, of whole blocks of the levels below.
int64_t half_of(int64_t size, int levels) {
  const int64_t blocks = int64_t{1} << levels;
  return (size + blocks - 1) / blocks * (blocks / 2);
}

void add_rounding(int levels, double last_growth, int64_t m, int64_t n, int64_t k, BilinearOperand a, BilinearOperand b, double* bound) {
  const int64_t rows = half_of(m, levels), cols = half_of(n, levels), depth = half_of(k, levels);
  const Quadrants of_a(a, m, k, rows, depth), of_b(b, k, n, depth, cols);
  const double growth = levels == 1 ? last_growth : 4 * kU32;
  std::vector<double> product(static_cast<size_t>(rows * cols));
  for (const Product& p : kProducts) {
    const Operand left = of_a.sum(p.a), right = of_b.sum(p.b);
    gemm_f64(rows, cols, depth, largest(left).data(), largest(right).data(), product.data());
    for (double& x : product) x = x <= kLargest ? growth * x : HUGE_VAL;
    if (levels > 1) add_rounding(levels - 1, last_growth, rows, cols, depth, {left.value, left.bound}, {right.value, right.bound}, product.data());
    for (int quadrant = 0; quadrant < 4; ++quadrant) {
      if (!p.in_c[quadrant]) continue;
      const int64_t row0 = quadrant / 2 * rows, col0 = quadrant % 2 * cols;
      for (int64_t r = 0; r < std::min(rows, m - row0); ++r)
        for (int64_t c = 0; c < std::min(cols, n - col0); ++c) bound[(row0 + r) * n + col0 + c] += product[static_cast<size_t>(r * cols + c)];
    }
  }
}

}  // namespace

void add_strassen_rounding(int levels, int64_t m, int64_t n, int64_t k, BilinearOperand a, BilinearOperand b, double* bound) {
  const int64_t blocks = int64_t{1} << levels, depth = (k + blocks - 1) / blocks;
  add_rounding(levels, dot_growth(depth) + static_cast<double>(blocks * blocks + 4) * kU32, m, n, k, a, b, bound);
}

}  // namespace amdahl
