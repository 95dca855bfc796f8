// Triangular matrices, reflections and what is made of them. Matrices are dense, rows first.
#include "blocks.h"

namespace aten {
namespace {

using P = const double*;

struct Matrix {
  Block<double>& b;
  int64_t rows() const { return b.size[0]; }
  int64_t columns() const { return b.size[1]; }
  double& operator()(int64_t i, int64_t j) { return b[i * b.size[1] + j]; }
};

// Solves A x = b in place for each column of x; element(i, j) is A's.
template <class Element>
void solve(Matrix x, int64_t n, bool lower, bool unit, Element element) {
  for (int64_t c = 0; c < x.columns(); ++c)
    for (int64_t step = 0; step < n; ++step) {
      int64_t i = lower ? step : n - 1 - step;
      double sum = x(i, c);
      for (int64_t j = lower ? 0 : i + 1; j < (lower ? i : n); ++j) sum -= element(i, j) * x(j, c);
      x(i, c) = unit ? sum : sum / element(i, i);
    }
}

// A^-1 x, where A is the product of the factor b[2] and its transpose. p: whether the factor is the upper one.
void solveBothWays(Matrix x, Matrix factor, bool upper) {
  auto lower = [&](int64_t i, int64_t j) { return upper ? factor(j, i) : factor(i, j); };
  solve(x, x.rows(), true, false, lower);
  solve(x, x.rows(), false, false, [&](int64_t i, int64_t j) { return lower(j, i); });
}

void choleskySolve(Blocks<double>& b, P p) {
  b[0].numbers = b[1].numbers;
  solveBothWays({b[0]}, {b[2]}, p[0] != 0);
}

void choleskyInverse(Blocks<double>& b, P p) {
  Matrix x{b[0]};
  for (int64_t i = 0; i < x.rows(); ++i)
    for (int64_t j = 0; j < x.columns(); ++j) x(i, j) = i == j;
  solveBothWays(x, {b[1]}, p[0] != 0);
}

// p: upper, transposed, unit diagonal
void triangularSolve(Blocks<double>& b, P p) {
  b[0].numbers = b[1].numbers;
  Matrix a{b[2]};
  bool transposed = p[1] != 0;
  solve({b[0]}, a.rows(), (p[0] != 0) == transposed, p[2] != 0, [&](int64_t i, int64_t j) { return transposed ? a(j, i) : a(i, j); });
}

// Householder's reflections as LAPACK keeps them: R above the diagonal, the reflections' vectors below it, their factors in b[1].
void reflect(Blocks<double>& b, P) {
  b[0].numbers = b[2].numbers;
  Matrix a{b[0]};
  for (int64_t k = 0; k < b[1].count(); ++k) {
    double below = 0;
    for (int64_t i = k + 1; i < a.rows(); ++i) below += a(i, k) * a(i, k);
    b[1][k] = 0;
    if (below == 0) continue;
    double head = a(k, k), beta = -std::copysign(std::sqrt(head * head + below), head);
    b[1][k] = (beta - head) / beta;
    for (int64_t i = k + 1; i < a.rows(); ++i) a(i, k) /= head - beta;
    a(k, k) = beta;
    for (int64_t j = k + 1; j < a.columns(); ++j) {
      double sum = a(k, j);
      for (int64_t i = k + 1; i < a.rows(); ++i) sum += a(i, k) * a(i, j);
      a(k, j) -= b[1][k] * sum;
      for (int64_t i = k + 1; i < a.rows(); ++i) a(i, j) -= b[1][k] * sum * a(i, k);
    }
  }
}

// Q c, Q^T c, c Q or c Q^T (p: left, transposed): b[1] the reflections, b[2] their factors, b[3] c.
void applyReflections(Blocks<double>& b, P p) {
  b[0].numbers = b[3].numbers;
  Matrix v{b[1]}, c{b[0]};
  bool left = p[0] != 0, forward = left == (p[1] != 0);
  int64_t count = b[2].count(), length = left ? c.rows() : c.columns(), others = left ? c.columns() : c.rows();
  auto at = [&](int64_t i, int64_t other) -> double& { return left ? c(i, other) : c(other, i); };
  for (int64_t step = 0; step < count; ++step) {
    int64_t k = forward ? step : count - 1 - step;
    for (int64_t other = 0; other < others; ++other) {
      double sum = at(k, other);
      for (int64_t i = k + 1; i < length; ++i) sum += v(i, k) * at(i, other);
      at(k, other) -= b[2][k] * sum;
      for (int64_t i = k + 1; i < length; ++i) at(i, other) -= b[2][k] * sum * v(i, k);
    }
  }
}

// P, L and U (b[0], b[1], b[2]) of b[3] and the exchanged rows b[4], counted from 1.
void unpack(Blocks<double>& b, P) {
  Matrix permutation{b[0]}, lower{b[1]}, upper{b[2]}, lu{b[3]};
  std::vector<int64_t> row(permutation.rows());
  for (int64_t i = 0; i < int64_t(row.size()); ++i) row[i] = i;
  for (int64_t i = 0; i < b[4].count(); ++i) std::swap(row[i], row[int64_t(b[4][i]) - 1]);
  std::fill(b[0].begin(), b[0].end(), 0);
  for (int64_t i = 0; i < int64_t(row.size()); ++i) permutation(row[i], i) = 1;
  for (int64_t i = 0; i < lower.rows(); ++i)
    for (int64_t j = 0; j < lower.columns(); ++j) lower(i, j) = i == j ? 1 : i > j ? lu(i, j) : 0;
  for (int64_t i = 0; i < upper.rows(); ++i)
    for (int64_t j = 0; j < upper.columns(); ++j) upper(i, j) = i <= j ? lu(i, j) : 0;
}

}  // namespace

const BlockKernels& factorisations() {
  static const BlockKernels kernels = {
      {"cholesky_solve", block([](Blocks<double>& b, P p) { choleskySolve(b, p); })},
      {"cholesky_inverse", block([](Blocks<double>& b, P p) { choleskyInverse(b, p); })},
      {"triangular_solve", block([](Blocks<double>& b, P p) { triangularSolve(b, p); })},
      {"geqrf", block([](Blocks<double>& b, P p) { reflect(b, p); })},
      {"ormqr", block([](Blocks<double>& b, P p) { applyReflections(b, p); })},
      {"lu_unpack", block([](Blocks<double>& b, P p) { unpack(b, p); })},
  };
  return kernels;
}

}  // namespace aten
