#include "graph/ops/strassen_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <vector>

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

std::unique_ptr<double[]> uninitialised(int64_t size) { return std::make_unique_for_overwrite<double[]>(static_cast<size_t>(size)); }

// Room for a sum of two quadrants: its values, what each may be off by, and how large each may be. The first two are for a level below.
struct Sum {
  std::unique_ptr<double[]> value, bound, largest;
  int64_t size;
  Sum(int64_t elements, bool handed_on, bool exact)
      : value(handed_on ? uninitialised(elements) : nullptr),
        bound(handed_on && !exact ? uninitialised(elements) : nullptr),
        largest(uninitialised(elements)),
        size(elements) {}
  BilinearOperand operand() const {
    const auto n = static_cast<size_t>(size);
    return {{value.get(), n}, bound ? std::span<const double>{bound.get(), n} : std::span<const double>{}};
  }
};

// Quadrants of a rows x cols matrix of blocks of rows and columns, those of the second half filled up with zeros.
class Quadrants {
 public:
  Quadrants(BilinearOperand x, int64_t rows, int64_t cols, int64_t half_rows, int64_t half_cols)
      : x_(x), rows_(rows), cols_(cols), half_rows_(half_rows), half_cols_(half_cols) {}

  Sum room(bool handed_on) const { return {half_rows_ * half_cols_, handed_on, x_.bound.empty()}; }

  // first + sign second, row by row. Values are infinite where fp32 has no such number.
  void sum(const Half& half, Sum& out) const {
#pragma omp parallel if (worth_threads(half_rows_ * half_cols_))
    {
      std::vector<double> value(static_cast<size_t>(half_cols_)), bound(value.size());
#pragma omp for
      for (int64_t r = 0; r < half_rows_; ++r) {
        add_rows(x_.value, half, half.sign, r, value);
        add_rows(x_.bound, half, 1, r, bound);
        const int64_t at = r * half_cols_;
        for (int64_t c = 0; c < half_cols_; ++c) {
          const auto i = static_cast<size_t>(c);
          if (!(std::fabs(value[i]) + bound[i] <= kLargest)) value[i] = HUGE_VAL;
          out.largest[static_cast<size_t>(at + c)] = std::fabs(value[i]) + bound[i];
        }
        if (out.value) std::copy(value.begin(), value.end(), out.value.get() + at);
        if (out.bound) std::copy(bound.begin(), bound.end(), out.bound.get() + at);
      }
    }
  }

 private:
  // Row r of the first quadrant of `half`, and `sign` times the second's.
  void add_rows(std::span<const double> x, const Half& half, double sign, int64_t r, std::vector<double>& out) const {
    std::fill(out.begin(), out.end(), 0);
    if (x.empty()) return;
    const auto add = [&](int quadrant, double factor) {
      const int64_t row = quadrant / 2 * half_rows_ + r, col = quadrant % 2 * half_cols_;
      if (row >= rows_) return;
      const double* from = x.data() + row * cols_ + col;
      const int64_t width = std::min(half_cols_, cols_ - col);
      for (int64_t c = 0; c < width; ++c) out[static_cast<size_t>(c)] += factor * from[c];
    };
    add(half.first, 1);
    if (half.sign != 0) add(half.second, sign);
  }
  BilinearOperand x_;
  int64_t rows_, cols_, half_rows_, half_cols_;
};

// Half of `size`, of whole blocks of the levels below.
int64_t half_of(int64_t size, int levels) {
  const int64_t blocks = int64_t{1} << levels;
  return (size + blocks - 1) / blocks * (blocks / 2);
}

void add_rounding(int levels, double last_growth, int64_t m, int64_t n, int64_t k, BilinearOperand a, BilinearOperand b, double* bound) {
  const int64_t rows = half_of(m, levels), cols = half_of(n, levels), depth = half_of(k, levels);
  const Quadrants of_a(a, m, k, rows, depth), of_b(b, k, n, depth, cols);
  const double growth = levels == 1 ? last_growth : 4 * kU32;
  Sum left = of_a.room(levels > 1), right = of_b.room(levels > 1);
  std::vector<double> product(static_cast<size_t>(rows * cols));
  for (const Product& p : kProducts) {
    of_a.sum(p.a, left);
    of_b.sum(p.b, right);
    gemm_f64(rows, cols, depth, left.largest.get(), right.largest.get(), product.data());
    for (double& x : product) x = x <= kLargest ? growth * x : HUGE_VAL;
    if (levels > 1) add_rounding(levels - 1, last_growth, rows, cols, depth, left.operand(), right.operand(), product.data());
    for (int quadrant = 0; quadrant < 4; ++quadrant) {
      if (!p.in_c[quadrant]) continue;
      const int64_t row0 = quadrant / 2 * rows, col0 = quadrant % 2 * cols;
      for (int64_t r = 0; r < std::min(rows, m - row0); ++r)
        for (int64_t c = 0; c < std::min(cols, n - col0); ++c) bound[(row0 + r) * n + col0 + c] += product[static_cast<size_t>(r * cols + c)];
    }
  }
}

}  // namespace

void add_strassen_rounding(int levels, double rounding, int64_t m, int64_t n, int64_t k, BilinearOperand a, BilinearOperand b, double* bound) {
  const int64_t blocks = int64_t{1} << levels, depth = (k + blocks - 1) / blocks;
  const double sums = dot_growth(depth) + static_cast<double>(blocks * blocks + 4) * kU32, narrowed = rounding * (2 + rounding);
  add_rounding(levels, sums + narrowed + sums * narrowed, m, n, k, a, b, bound);
  const double underflow = static_cast<double>(blocks * blocks * (k + 8)) * (rounding > 0 ? kFlush : kDenormalStep);
  for (int64_t i = 0; i < m * n; ++i) bound[i] += underflow;
}

}  // namespace amdahl
